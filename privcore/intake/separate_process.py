"""Tries to read a file in a separate process first, because a library may crash on the file."""

from __future__ import annotations

import subprocess
import sys

# Limits of the separate process: bytes of memory, in addition to a multiple of the file's size, and
# seconds.  A core file would hold the rows of the file that made the library crash.
_MEMORY, _TIMES, _SECONDS = 2 << 30, 8, 120
_LIMIT = """
import sys
try:
    import resource
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]),) * 2)
except (ImportError, OSError, ValueError):
    pass
"""


def survives(code: str, content: bytes, *arguments: str) -> bool:
    """Whether Python runs `code` to its end, with the bytes of a file as its standard input.

    The arguments of `code` begin at sys.argv[2]. Damaged files make some C libraries crash or fill
    the memory; in that case only the separate process ends, and the caller continues.
    """
    memory = str(_MEMORY + _TIMES * len(content))
    try:
        # Nothing is imported from the current directory.
        done = subprocess.run(
            [sys.executable, "-P", "-c", _LIMIT + code, memory, *arguments],
            input=content,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0
