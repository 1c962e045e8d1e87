"""`python -m privcore`, and the command `causalveil`."""

import sys

# What a shell reports of a program that Ctrl-C ended.
_INTERRUPTED = 130


def main() -> int:
    """Run the command line; its exit code."""
    try:
        from privcore.cli import main as run

        return run()
    except KeyboardInterrupt:  # Loading takes a second or two, and may be what is interrupted.
        print("Stopped.", file=sys.stderr)
        return _INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
