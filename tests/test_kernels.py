"""Compiled loops: what a machine gets that cannot compile them, or cannot keep what it compiled."""

import math
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from threading import Thread

import numba

from privcore import kernels
from privcore.kernels import jit, preparing

ROOT = Path(__file__).parents[1]


def test_without_numba_there_is_one_error_and_what_needs_none_works():
    script = (
        "import sys; sys.modules['numba'] = None\n"
        "import privcore\n"
        "from privcore import kernels\n"
        "kernels.start().join()\n"
        "data = privcore.load_network('asia').sample(2000, 1)\n"
        "print(type(data).__name__)\n"
        "for name in ('pc', 'priv-pc', 'moment-search'):\n"
        "    try:\n"
        "        privcore.discover(data, name, seed=1)\n"
        "    except privcore.PrivcoreError as error:\n"
        "        print(type(error).__name__, 'pip install' in str(error))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.split("\n") == ["Dataset", *["KernelError True"] * 3, ""]
    assert not done.stderr


def test_numba_is_not_imported_before_something_is_counted():
    script = "import sys, privcore; privcore.discover, privcore.ALGORITHMS\n"
    script += "assert 'numba' not in sys.modules"
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True)


def test_where_no_folder_can_be_written_loops_work(tmp_path):
    """Files stand where they would be made, beside the modules and in the user's cache."""
    without = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "privcore", tmp_path / "privcore", ignore=without)
    home = tmp_path / "home"
    for place in (tmp_path / "privcore" / "kernels" / "__pycache__", home):
        place.write_text("")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("NUMBA", "PYTHON"))}
    environment |= {"HOME": str(home), "XDG_CACHE_HOME": str(home)}
    script = "from privcore import kernels; print(kernels.cells.log_ndtr(10.0))"
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("0.0\n", "")


def test_where_the_disk_is_full_loops_work(monkeypatch):
    def full(*_):
        raise OSError

    monkeypatch.setattr(numba.core.caching.FunctionCache, "save_overload", full)
    assert jit.compiled("int64(int64)")(one_more)(2) == 3


def one_more(number):
    return number + 1


def test_a_run_compiles_what_it_needs_and_announces_it(tmp_path):
    """A listener hears of one loop after the other, and of nothing that is cached."""
    script = (
        "import privcore\n"
        "from privcore.kernels import preparing\n"
        "heard = []\n"
        "data = privcore.load_network('asia').sample(500, 1)\n"
        "with preparing.announced_to(heard.append):\n"
        "    privcore.discover(data, 'priv-pc', seed=1)\n"
        "print(*heard)\n"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    first, again = (
        subprocess.run(
            [sys.executable, "-c", script],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        for _ in range(2)
    )
    assert first == [w for k in range(1, len(first) // 2 + 1) for w in (str(k), "0")]
    assert first
    assert not again
    made = {kept.name.partition("-")[0] for kept in tmp_path.rglob("*.nbi")}
    assert "tables.count_cells" in made
    assert not {name for name in made if name.startswith(("tables.test_", "moment_", "table_"))}


def test_the_background_waits_while_a_run_compiles(monkeypatch):
    monkeypatch.setattr(preparing, "_last_needed", time.monotonic())
    slept = []

    def sleep(_):
        slept.append(1)
        monkeypatch.setattr(preparing, "_last_needed", -math.inf)

    monkeypatch.setattr(time, "sleep", sleep)
    kernels.load()
    assert not slept
    monkeypatch.setattr(preparing, "_last_needed", time.monotonic())
    thread = Thread(target=kernels._load_quietly)
    thread.start()
    thread.join()
    assert slept == [1]


def test_what_was_compiled_before_a_source_changed_is_deleted(tmp_path):
    """numba sees a change of a function, and none of those that it calls."""
    kept = tmp_path / "__pycache__"
    kept.mkdir()
    source, index = tmp_path / "a.py", kept / "a.f-1.py311.nbi"
    source.write_text("one")
    index.touch()
    jit.drop_stale(tmp_path)
    assert not index.exists()
    index.touch()
    jit.drop_stale(tmp_path)
    assert index.exists()
    source.write_text("other")
    jit.drop_stale(tmp_path)
    assert not index.exists()
