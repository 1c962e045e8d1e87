"""Bytes of unknown origin: the text that they are, and readers that may not survive them.

Tries to read a file in a separate process first, because a library may crash on the file.

Decodes bytes to text, and detects the encoding of a table that does not declare an encoding.

Without a byte-order mark or valid UTF-8, the non-ASCII words are decoded in each candidate
encoding.  Each reading gets a likelihood, from the frequencies of its letters in the languages that
use the encoding, and from whether case, script and signs follow one another as in real words.
"""

from __future__ import annotations

import codecs
import re
import subprocess
import sys
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from math import log

from privcore.errors import DataError

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


# In the order in which a page offers them.
ENCODINGS = (
    *("utf-8", "utf-16", "utf-16-le", "utf-16-be", "utf-32"),
    *("cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "gb18030"),
    *("shift_jis", "euc_kr", "big5", "euc_jp", "koi8-r", "mac_roman"),
)
# Windows writes more characters under these names than Python's codecs of these names know.
_CODECS = {"shift_jis": "cp932", "euc_kr": "cp949", "big5": "cp950"}
_BINARY_STARTS = (b"\x89PNG", b"\xff\xd8\xff", b"PK\x03\x04", b"%PDF", b"\x1f\x8b", b"GIF8")
# UTF-32 comes first: its mark starts with that of UTF-16.
_MARKS = {
    **{b"\xff\xfe\x00\x00": "utf-32", b"\x00\x00\xfe\xff": "utf-32"},
    **{b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"},
}
# Bytes of words that are scored: thousands of words are enough.
_SAMPLE = 200_000
# A word with a byte beyond ASCII.  It ends at bytes that are part of no other character in any
# encoding; "|" may be the second byte of one, after a byte beyond ASCII.
_WORD = re.compile(
    rb"(?<![0-9@-{}-\xff])[0-9@-{}-\x7f]*+[\x80-\xff](?:[0-9@-{}-\xff]|(?<=[\x80-\xff])\|)*+"
)

# Letters beyond ASCII of each language, the most frequent first.
_WESTERN = (
    *("éèàêçâôîûùïëœ", "üäößé", "óíáñéúü", "ãçáéíóêõâúôà", "àèùòìé"),  # fr, de, es, pt, it
    *("äöåéü", "æøåéö", "íáóþðúýéæö", "éëïóüèê"),  # sv and fi, da and no, is, nl
)
_RUSSIAN = "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё"
_LANGUAGES = {
    "cp1252": _WESTERN,
    "mac_roman": _WESTERN,
    "cp1250": (
        *("łóężąśćźń", "íáéěřčžýšůúťňďó", "áíčžýéšúťôľňäďó"),  # pl, cs, sk
        *("áéöóőíüúű", "ăîşţâ", "čšžćđ", "üäößé"),  # hu, ro, hr and sl, de
    ),
    "cp1254": ("ıüşçöğİâî",),
    "cp1257": ("ėšųįžąūčę", "āīēšņūļžģčķ", "äõüöšž"),  # lt, lv, et
    "cp1251": (
        *(_RUSSIAN, "оаинтевірслкудмпязьгбйчхшжцюїєщфґ"),  # ru, uk
        *("аоиетнрсвлдкпмзяъбгчужцщхйюшф", "аоиенјрстудвклпмзбгчцшжћхњљђфџ"),  # bg, sr
        "аіоенсртвўкыляудмпьгзбчцйшхжэюёф",  # be
    ),
    "koi8-r": (_RUSSIAN,),
    "cp1253": ("αοιετσνηυρπκμλςωάίδόήγέθχύφβξζώψϊ",),
    "cp1255": ("יוהלאתרמבשנדחעקפטגםזןסכצךץף",),
    # ar, fa
    "cp1256": ("اليمنوترةبدعهسفكقحأجشصىطخضإآذثظغءئؤ", "ایرنهدمتوبسلشکزفگعخقجآپحطصچضغظثژئ"),
}
_LATIN = ("cp1252", "cp1250", "cp1254", "cp1257", "mac_roman")
# The first bytes, in a standard, of the everyday characters: its level 1, and kana.
_JAPANESE = (("euc_jp", 0xB0, 0xCF), ("euc_jp", 0xA4, 0xA5))
_COMMON = {
    "gb18030": (("gb2312", 0xB0, 0xD7),),
    "big5": (("big5", 0xA4, 0xC6),),
    "euc_kr": (("euc_kr", 0xB0, 0xC8),),
    "shift_jis": _JAPANESE,
    "euc_jp": _JAPANESE,
}
_BY_LETTERS = (*_LANGUAGES, *_COMMON)
_SIGNS = "°€–—’‘“”„«»…£§©®²³µ½·×±¿¡ºª№\xa0，。、：；（）！？％￥～・ー々\u3000"
_HALF_WIDE = "".join(map(chr, range(0xFF61, 0xFFA0)))
# Log-likelihoods.  Letters fall off in frequency by e^3.6 from the first to the last, as they do in
# Russian; one in 20 letters of a Latin text is beyond ASCII, as each of its ASCII letters is.
_FALL, _IN_LATIN, _ASCII = 3.6, -3.0, -3.0
_SIGN, _HALF, _RARE = -7.0, -5.5, -12.0
# Most files that are not UTF-8 come from Windows in Western Europe and America.
_WIDEST = 3.0
# What follows in a word: another script, a capital after a small letter or another capital, a sign.
_MIXED, _RISE, _CAPITALS, _TOUCHING = -4.0, -6.0, -0.5, -3.0
# Readings less likely by up to this (a letter or two) are shown, as many as a page has room for.
_MARGIN, _SHOWN = 12.0, 5
# A word or two: at most as many bytes beyond one for each character make UTF-8 a matter of chance.
_FEW = 8


@dataclass(frozen=True)
class Decoded:
    """A text, and the encoding in which it was read."""

    text: str
    encoding: str
    # If other encodings are plausible: each encoding, the chosen one first, then by likelihood,
    # with up to 3 words (the same for each) in which the readings differ.
    readings: tuple[tuple[str, tuple[str, ...]], ...] = ()


def decode(content: bytes, wanted: str | None = None) -> Decoded:
    """Decodes bytes in the encoding `wanted`, or in a detected encoding if `wanted` is None.

    Detection uses a byte-order mark if there is one.  Otherwise valid UTF-8 is read as such, and
    other bytes in the likeliest encoding.
    Raises DataError for bytes that are not valid in the encoding, and for an unknown encoding.
    """
    if content.startswith(_BINARY_STARTS):
        raise _not_text()
    certain = _known(wanted) if wanted is not None else None
    certain = certain or next((e for mark, e in _MARKS.items() if content.startswith(mark)), None)
    if b"\x00" in content and not (certain or "").startswith(("utf-16", "utf-32")):
        certain = None if wanted is not None else _by_nuls(content)
        if certain is None:
            raise _not_text()
    text = _text(content, certain or "utf-8")
    if text is not None and (certain or not _is_doubtful(content, text)):
        return Decoded(text, wanted or certain or "utf-8")
    words = _words(content)
    likely = ["utf-8"] * (text is not None) + _ranked(words)
    # All likely encodings may fail outside the sample.
    for encoding in [] if certain else [*likely, *_BY_LETTERS]:
        if (text := _text(content, encoding)) is not None:
            others = [e for e in likely if e != encoding and _text(content, e) is not None]
            return Decoded(text, encoding, _samples(words, [encoding, *others[:_SHOWN]]))
    raise _not_text()


def _is_doubtful(content: bytes, text: str) -> bool:
    """Whether valid UTF-8 may be a coincidence: a word or two in GBK can be meaningless UTF-8."""
    if not 0 < len(content) - len(text) <= _FEW:
        return False
    usual = {c for languages in _LANGUAGES.values() for c in "".join(languages)}.union(_SIGNS)
    letters = b"".join(_words(content)).decode("utf-8", "ignore").lower() or "\ufffd"
    # Three bytes for one character are no coincidence.
    return max(letters) < "\u0800" and any(not c.isascii() and c not in usual for c in letters)


def _known(name: str) -> str:
    """Python's name of a text encoding; raises DataError for an unknown encoding."""
    try:
        b"a".decode(name)
    except UnicodeError:
        pass
    except (LookupError, ValueError):
        raise DataError("encoding-unknown", choices=", ".join(ENCODINGS)) from None
    return codecs.lookup(name).name


def _by_nuls(content: bytes) -> str | None:
    """Detects UTF-16 without a mark by the NUL bytes of its delimiters, digits and line ends."""
    start = content[:_SAMPLE]
    even, odd = start[::2].count(0), start[1::2].count(0)
    # Delimiters and line ends are a tenth of any table; a few letters have a NUL at the other end.
    if max(even, odd) < 0.05 * len(start) / 2 or 3 * min(even, odd) > max(even, odd):
        return None
    return "utf-16-le" if odd > even else "utf-16-be"


def _text(content: bytes, encoding: str) -> str | None:
    try:
        text = content.decode(_CODECS.get(encoding, encoding))
    except (UnicodeError, LookupError):
        return None
    # Spaces such as U+00A0 and U+3000 are text; control characters are a sign of binary data.
    junk = sum(unicodedata.category(c) == "Cc" and c not in "\r\n\t" for c in text[:10_000])
    return text.removeprefix("\ufeff") if junk <= 0.02 * min(len(text), 10_000) else None


def _words(content: bytes) -> list[bytes]:
    """The non-ASCII words that differ in more than digits, in the order of the file."""
    words: dict[bytes, bytes] = {}
    size = 0
    for match in _WORD.finditer(content):
        size += len(match[0])
        if size > _SAMPLE:
            break
        words.setdefault(match[0].translate(None, b"0123456789"), match[0])
    return list(words.values())


def _ranked(words: Sequence[bytes]) -> list[str]:
    """The plausible encodings that decode the words differently, likeliest first."""
    together = b"\n".join(words)
    fits: dict[str, tuple[float, str]] = {}
    for encoding in _BY_LETTERS:
        try:
            text = together.decode(_CODECS.get(encoding, encoding))
        except UnicodeDecodeError:
            continue
        fit = _likelihood(text, encoding) + (_WIDEST if encoding == "cp1252" else 0)
        if text not in fits or fit > fits[text][0]:
            fits[text] = fit, encoding
    ranked = sorted(fits.values(), key=lambda f: -f[0])
    return [encoding for fit, encoding in ranked if fit >= ranked[0][0] - _MARGIN]


def _likelihood(text: str, encoding: str) -> float:
    """The largest log-likelihood of a text among the languages of the encoding."""
    in_words = sum(
        n * _follows(before, after, encoding in _LATIN)
        for (before, after), n in Counter(pairwise("\n" + text)).items()
        if not (before.isascii() and after.isascii())
    )
    counts = Counter(text)
    return in_words + max(
        sum(n * (_ASCII if c.isascii() else letters.get(c, _RARE)) for c, n in counts.items())
        for letters in _frequencies(encoding)
    )


@cache
def _frequencies(encoding: str) -> tuple[dict[str, float], ...]:
    """The log-likelihoods of non-ASCII characters, in each language of the encoding."""
    common = dict.fromkeys(_SIGNS, _SIGN) | dict.fromkeys(_HALF_WIDE, _HALF)
    for codec, first, last in _COMMON.get(encoding, ()):
        pairs = (bytes((a, b)) for a in range(first, last + 1) for b in range(0x40, 0xFF))
        level = {c for pair in pairs if len(c := pair.decode(codec, "ignore")) == 1}
        common |= dict.fromkeys(level, -log(len(level)))
    of_languages = []
    for letters in _LANGUAGES.get(encoding, ("",)):
        of_language = common.copy()
        for i, letter in enumerate(letters):
            fit = log(_FALL / len(letters)) - _FALL * i / len(letters)
            fit += _IN_LATIN if encoding in _LATIN else 0
            of_language |= {letter: fit, letter.upper(): fit}
        of_languages.append(of_language)
    return tuple(of_languages)


def _follows(before: str, after: str, latin: bool) -> float:
    """Log-likelihood of the second character after the first, relative to its own frequency."""
    if not (before.isalpha() and after.isalpha()):
        letter, other = (after, before) if after.isalpha() else (before, after)
        # Digits touch letters only in Chinese, Japanese and Korean (from U+1100 on).
        touches = not other.isascii() or (other.isdigit() and "\x7f" < letter < "\u1100")
        return _TOUCHING * (letter.isalpha() and touches)
    fit = 0.0 if latin or before.isascii() == after.isascii() else _MIXED
    if after.isupper():
        fit += _RISE if before.islower() else _CAPITALS
    return fit


def _samples(
    words: Sequence[bytes], encodings: Sequence[str]
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """For each encoding, how it reads the few words in which most encodings differ."""
    if len(encodings) < 2:
        return ()
    # A page shows a few words; the first ones come from the header.
    read = [[w.decode(_CODECS.get(e, e), "replace")[:40] for e in encodings] for w in words[:2000]]
    chosen: list[int] = []
    for _ in range(3):
        rest = (i for i, r in enumerate(read) if i not in chosen and len(set(r)) > 1)
        best = max(
            rest,
            key=lambda i: len(set(zip(*(read[j] for j in [*chosen, i]), strict=True))),
            default=None,
        )
        if best is not None:
            chosen.append(best)
    return tuple((e, tuple(read[i][k] for i in sorted(chosen))) for k, e in enumerate(encodings))


def _not_text() -> DataError:
    return DataError("file-neither-text-in-known-encoding")
