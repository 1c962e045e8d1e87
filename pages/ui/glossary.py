"""Links to glossary terms, for captions and `help` texts of any page."""

from __future__ import annotations

from pages.ui.texts import plain
from privcore.extras.teaching.glossary import Term, get_term, glossary

_PEOPLE = ("Gaussian", "Laplace")


def linked(text: str, **words: str) -> str:
    """Turn a sentence of the engine into Markdown, with the first occurrence of each word linked.

    words: the name of each term, with the word to link, exactly as the sentence spells this word. A
    word that does not occur is skipped. The sentence must not contain names that users chose.
    """
    for name, word in words.items():
        text = text.replace(word, term_link(name, word), 1)
    return text


def address(name: str) -> str:
    """The URL of a term in the glossary; raises ParameterError for an unknown term."""
    # Relative, so that it also works under another path.
    return f"glossary?term={get_term(name).name}"


def term_link(name: str, text: str = "") -> str:
    """A Markdown link to a term, with its title in lower case or another text.

    Raises ParameterError if the glossary has no such term.
    """
    title = get_term(name).title
    # Names that begin with capitals keep them: PC, Laplace, F1.
    named = not title[1:2].islower() or title.startswith(_PEOPLE)
    small = title if named else title[0].lower() + title[1:]
    return f"[{text or small}]({address(name)})"


def glossary_note(name: str) -> str:
    """A link to a term, or an empty text if the glossary does not have the term."""
    return f"[Glossary]({address(name)})" if name in glossary() else ""


def terms_of_panel(panel: str) -> list[str]:
    """Names of the terms that a panel of the Learn page demonstrates."""
    return [term.name for term in glossary().values() if term.panel == panel]


def heading(term: Term) -> str:
    """A term's title and symbol, as Markdown."""
    symbol = f" · {plain(term.symbol)}" if term.symbol and term.symbol != term.title else ""
    return f"**{plain(term.title)}**{symbol}"


def body(term: Term) -> str:
    """A term's meaning, with further links, as Markdown."""
    more: list[str] = []
    if term.field:
        more.append(f"In the field: {plain(term.field)}.")
    if term.used_by:
        more.append(f"Parameter of {', '.join(map(plain, term.used_by))}.")
    if term.see:
        more.append(f"See {', '.join(term_link(name) for name in term.see)}.")
    tried = [
        f"[the panel](learn?panel={term.panel})" if term.panel else "",
        f"[the lesson](learn?lesson={term.lesson})" if term.lesson else "",
    ]
    if any(tried):
        more.append(f"Try it: {' or '.join(filter(None, tried))}.")
    if term.docs:
        more.append(f"More: `{term.docs}`.")
    return "  \n".join([plain(term.text), *more])
