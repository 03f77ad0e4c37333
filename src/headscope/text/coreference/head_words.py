"""The head word of a mention, which stands for it (clark2019, section 4.3): from dependencies, else by a rule for English.

The rule takes the last word of the noun phrase's core, and the core ends before the first comma, preposition, conjunction,
pronoun or participle clause behind it: `the tall, thin [man] who left`, `Ann 's [hat] on a chair`, `the [dogs] and cats`.
"""

from collections.abc import Sequence

from headscope.errors import InputError
from headscope.text.coreference import english
from headscope.text.coreference.english import DETERMINERS, JOINS, POSSESSION, listed
from headscope.text.document import Document
from headscope.text.mention import Mention

NOMINAL_TAGS = frozenset({"NOUN", "PROPN", "PRON", "NN", "NNS", "NNP", "NNPS", "PRP", "WP"})

_ENDS = english.PREPOSITIONS | JOINS | english.CLAUSES | english.REFLEXIVES
_MARKS_WITHIN = listed("- / . \" `` '' “ ” _ $ % #")  # they do not end a noun phrase
# After nothing but these no phrase is complete: the preposition in `even in the house` does not end one.
_OPENINGS = english.ADVERBS | (DETERMINERS - listed("this that these those some any each"))


def head_word(document: Document, mention: Mention) -> int:
    """Which of the document's words is the mention's head.

    >>> words = "the tall , thin man who left".split()
    >>> words[head_word(Document(words=words), Mention(0, 7, "man"))]
    'man'
    """
    if document.words is None:
        raise InputError("A mention stands on words, and this document has none: give words=[...].")
    if mention.stop - mention.start == 1:
        return mention.start
    if document.parents is not None:
        return _by_dependencies(document, document.parents, mention)
    words = [word.lower() for word in document.words[mention.start : mention.stop]]
    nouns = _nominal(document, mention)
    if nouns is not None:  # UPOS has possessives among the pronouns
        nouns = [noun and word not in english.POSSESSIVES for noun, word in zip(nouns, words, strict=True)]
    return mention.start + head_by_rule(words, nouns)


def _by_dependencies(document: Document, heads: Sequence[int], mention: Mention) -> int:
    """The word whose head lies outside; of several the first noun, name or pronoun, or the first of all.

    Universal Dependencies hang the parts of a name (`flat`) on its first word, by convention; the last one is taken, as
    Stanford Dependencies do and the rule does.
    """
    span = range(mention.start, mention.stop)
    tops = [word for word in span if heads[word] not in span] or list(span)  # where heads go round in a circle
    nouns = _nominal(document, mention)
    top = next((word for word in tops if nouns is not None and nouns[word - span.start]), tops[0])
    flat = [relation.split(":")[0] == "flat" for relation in document.relations or ()]
    return max([top, *(word for word in span if heads[word] == top and flat and flat[word])])


def _nominal(document: Document, mention: Mention) -> list[bool] | None:
    """Which words of a mention are nouns, names or pronouns, where there are tags."""
    tags = document.tags or document.fine_tags
    return None if tags is None else [tag in NOMINAL_TAGS for tag in tags[mention.start : mention.stop]]


def head_by_rule(words: Sequence[str], nominal: Sequence[bool] | None = None) -> int:
    """The rule on the lower-case words of a mention; `nominal` says which are nouns, names or pronouns, where known."""
    spoken = [place for place, word in enumerate(words) if _is_word(word) and word not in POSSESSION] or [0]
    first, last = spoken[0], spoken[-1]
    for place in range(first + 1, last + 1):
        if _is_complete(words, nominal, first, place) and _ends_core(words, nominal, place):
            last = place - 1
            break
    while last > first and (not _is_word(words[last]) or words[last] in POSSESSION | english.SUFFIXES):
        last -= 1
    if nominal is None:
        return last
    return next((place for place in range(last, first - 1, -1) if nominal[place]), last)


def _is_complete(words: Sequence[str], nominal: Sequence[bool] | None, first: int, place: int) -> bool:
    """Whether the words before `place` may be a noun phrase."""
    if nominal is not None and words[place] != "of":  # `two of them`
        return any(nominal[first:place])
    return any(word not in _OPENINGS for word in words[first:place])


def _ends_core(words: Sequence[str], nominal: Sequence[bool] | None, place: int) -> bool:
    word = words[place]
    if word in POSSESSION or word in _MARKS_WITHIN or (word in JOINS and words[place - 1] in english.TITLES):
        return False
    if word in JOINS or word == ",":
        return nominal[place - 1] if nominal is not None else not _joins_adjectives(words, place)
    return not _is_word(word) or word in _ENDS or _is_participle(words, place)


def _joins_adjectives(words: Sequence[str], place: int) -> bool:
    """A comma or conjunction behind one word only, with more than one to come: `a tall, thin man`, `a wise and good man`."""
    if place < 2 or not (words[place - 2] in DETERMINERS or (place >= 4 and words[place - 2] == ",")):
        return False
    after = 0
    for word in words[place + 1 :]:
        if word in _ENDS or word in DETERMINERS or not _is_word(word):
            break
        after += 1
    goes_on = words[place] == "," and after == 1 and words[place + 2 : place + 3] in ([","], ["and"], ["or"])
    return goes_on or after > 1


def _is_participle(words: Sequence[str], place: int) -> bool:
    """`people [sent] by`, `a crowd [surrounding] a gallows`: a preposition, pronoun or determiner follows."""
    following = words[place + 1] if place + 1 < len(words) else ""
    governs = following in _ENDS - JOINS or following in DETERMINERS
    return governs and len(words[place]) > 4 and words[place].endswith(("ed", "ing"))


def _is_word(word: str) -> bool:
    return any(character.isalnum() for character in word)
