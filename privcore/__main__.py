"""Entry point of `python -m privcore` and of the `causalveil` command."""

import sys

# The exit code that a shell reports for a program ended by Ctrl-C.
_INTERRUPTED = 130


def main() -> int:
    """Run the command line and return its exit code."""
    try:
        from privcore.faces.cli import main as run
        from privcore.files import no_core_files

        no_core_files()
        return run()
    except KeyboardInterrupt:  # Loading takes a second or two, so Ctrl-C may interrupt it.
        print("Stopped.", file=sys.stderr)
        return _INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
