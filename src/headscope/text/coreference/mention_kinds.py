"""Whether a mention is a pronoun, a proper name or a common noun phrase: the columns of clark2019, table 2."""

from collections.abc import Sequence

from headscope.text.coreference.english import INDEFINITES, PRONOUNS, listed
from headscope.text.coreference.head_words import head_word
from headscope.text.document import Document
from headscope.text.mention import Kind, Mention

NAME_TAGS = frozenset({"PROPN", "NNP", "NNPS"})
_ENDS = listed(". ! ? : ; \" `` '' “ ” ‘ ' ( _ -- —")


def kind_of(document: Document, mention: Mention) -> Kind:
    """The annotation's kind where it has one; otherwise by the mention's words, in English.

    PRON: it begins with its head word, and that is on the closed list of pronouns (`somebody` is not: it is NOM).
    PROP: its head word is tagged as a name or, without tags, is capitalised inside a sentence, there or elsewhere in the
    document, and its first word is no article but `the`, no demonstrative and no possessive: `a Miss Taylor` is NOM.
    NOM: all others.

    >>> kind_of(Document(words=["Ann", "smiled", ".", "Then", "Ann", "left"]), Mention(0, 1, "Ann"))
    'PROP'
    """
    return mention.kind or _by_words(document, mention, names_in(document))


def kinds_of(document: Document) -> list[Kind]:
    """The kind of each of the document's mentions; the document is searched for names once, and only if need be."""
    mentions = document.mentions or ()
    names = names_in(document) if any(mention.kind is None for mention in mentions) else set()
    return [mention.kind or _by_words(document, mention, names) for mention in mentions]


def _by_words(document: Document, mention: Mention, names: set[str]) -> Kind:
    head = head_word(document, mention)
    assert document.words is not None
    first, word = document.words[mention.start].lower(), document.words[head]
    if word.lower() in PRONOUNS and head == mention.start:
        return "PRON"
    tags = document.tags or document.fine_tags
    named = word in names if tags is None else tags[head] in NAME_TAGS
    return "PROP" if named and first not in INDEFINITES else "NOM"


def names_in(document: Document) -> set[str]:
    """The words that stand capitalised where no sentence begins, and there at least as often as uncapitalised."""
    words = document.words or ()
    openings = _openings(words, document.sentences)
    inside: dict[str, int] = {}
    for place, word in enumerate(words):
        if place not in openings and (len(word) == 1 or not word.isupper()):  # a heading in capitals names nobody
            inside[word] = inside.get(word, 0) + 1
    return {word for word, times in inside.items() if word[0].isupper() and times >= inside.get(word.lower(), 0)}


def _openings(words: Sequence[str], sentences: Sequence[tuple[int, int]] | None) -> set[int]:
    """Where a capital says nothing: the first word of a sentence, and what follows a stop, a colon or a quotation mark."""
    after = {place + 1 for place, word in enumerate(words) if word in _ENDS}
    return {0} | {start for start, _ in sentences or ()} | after
