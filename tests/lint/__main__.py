"""Prints what is wrong, a line each; the exit code says whether anything is.

With `--count` it prints instead how often the texts use words that they are to lose.
"""

import argparse
import sys

from tests.lint import documents, references, sentences, terms, words


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.lint", description=__doc__)
    parser.add_argument("--count", action="store_true", help="count the words to be dropped")
    if parser.parse_args().count:
        print("\n".join(words.counted()))
        return 0
    parts = (words, references, documents, terms, sentences)
    wrong = [line for part in parts for line in part.faults()]
    print("\n".join(wrong) or "Words, names, links, commands, terms and sentences: all there.")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
