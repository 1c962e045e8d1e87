"""Prints what is wrong, a line each; the exit code says whether anything is."""

import sys

from tests.lint import documents, references, terms, words


def main() -> int:
    wrong = [line for part in (words, references, documents, terms) for line in part.faults()]
    print("\n".join(wrong) or "Words, names, links, commands and terms: all there.")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
