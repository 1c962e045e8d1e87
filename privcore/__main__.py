"""`python -m privcore`."""

import sys

# What a shell reports of a program that Ctrl-C ended.
_INTERRUPTED = 130

try:
    from privcore.cli import main

    code = main()
except KeyboardInterrupt:  # Loading takes a second or two, and may be what is interrupted.
    print("Stopped.", file=sys.stderr)
    code = _INTERRUPTED
sys.exit(code)
