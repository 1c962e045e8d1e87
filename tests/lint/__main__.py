"""Prints what is wrong, a line each; the exit code says whether anything is.

With `--count` it prints instead how often the texts use words that they are to lose, with
`--sample` texts for a reader to judge.
"""

import argparse
import sys

from tests.lint import documents, references, sample, sentences, terms, words


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.lint", description=__doc__)
    parser.add_argument("--count", action="store_true", help="count the words to be dropped")
    parser.add_argument("--sample", type=int, metavar="SEED", help="print texts for a reader")
    options = parser.parse_args()
    if options.sample is not None:
        print("\n".join(sample.sampled(options.sample)))
        return 0
    if options.count:
        print("\n".join(words.counted()))
        return 0
    parts = (words, references, documents, terms, sentences)
    wrong = [line for part in parts for line in part.faults()]
    print("\n".join(wrong) or "Words, names, links, commands, terms and sentences: all there.")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
