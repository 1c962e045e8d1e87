"""A first look at a file in a process of its own, where a library may end the process it is in."""

from __future__ import annotations

import subprocess
import sys

# Bytes of memory, beside some times the size of the file, and seconds that a look may take.
_MEMORY, _TIMES, _SECONDS = 2 << 30, 8, 120
_LIMIT = """
import sys
try:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]),) * 2)
except (ImportError, OSError, ValueError):
    pass
"""


def survives(code: str, content: bytes, *arguments: str) -> bool:
    """Whether Python runs `code` to its end, with the bytes of a file as its standard input.

    Its arguments begin at sys.argv[2].  Damaged files crash some libraries in C, or let them fill
    the memory; here only such a look ends, not the work of all who share this process.
    """
    memory = str(_MEMORY + _TIMES * len(content))
    try:
        # Nothing is imported from the folder that this process is in.
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
