"""What may stand on the words of a document: the length and the range of every layer, checked once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from headscope.errors import InputError
from headscope.text.mention import KINDS

if TYPE_CHECKING:
    from headscope.text.document import Document

ONE_PER_WORD = {"spaces": bool, "tags": str, "fine_tags": str, "parents": int, "relations": str}
SPANS = ("sentences", "mentions", "multiwords")


def check_layers(document: Document) -> None:
    """Every layer fits the words, or InputError."""
    _check_context(document.context, document.words)
    _check_alignment(document)
    given = [name for name in (*ONE_PER_WORD, *SPANS) if getattr(document, name) is not None]
    if not given:
        return
    if document.words is None:
        raise InputError(f"The {given[0]} have no words to stand on: give the document's words too.")
    count = len(document.words)
    for name in given:
        layer = getattr(document, name)
        if name in SPANS:
            _check_spans(name, layer, count)
        else:
            _check_one_per_word(name, layer, ONE_PER_WORD[name], count)
    _check_parents(document.parents or ())
    _check_apart("sentences", document.sentences or ())
    _check_apart("multiwords", document.multiwords or ())
    for mention in document.mentions or ():
        if not isinstance(mention.cluster, str) or not mention.cluster:
            raise InputError(f"The mention of words {mention.start} to {mention.stop} has no cluster: give it a name.")
        if mention.kind is not None and mention.kind not in KINDS:
            raise InputError(f"A mention's kind is one of {', '.join(KINDS)} or None, not {mention.kind!r}.")
    for multiword in document.multiwords or ():
        if not isinstance(multiword.form, str) or not multiword.form.strip():
            raise InputError(f"The multiword token of words {multiword.start} to {multiword.stop} has no form.")


def _check_alignment(document: Document) -> None:
    """Links between its words and its target's, or none."""
    if document.alignment is None:
        return
    if document.words is None or document.target_words is None:
        raise InputError("The gold links have no words to stand on: give the document's words and target_words too.")
    sizes = len(document.words), len(document.target_words)
    for source, target in document.alignment.possible:
        if not (0 <= source < sizes[0] and 0 <= target < sizes[1]):
            raise InputError(f"There is no pair of words {source}-{target}: the sides have {sizes[0]} and {sizes[1]} words.")


def _check_context(context: int, words: Sequence[str] | None) -> None:
    """Some of its own first words, or none."""
    if context != 0 and not (isinstance(context, int) and words is not None and 0 < context <= len(words)):
        raise InputError(f"The context is a number of the document's {len(words or ())} words, not {context!r}.")


def _check_one_per_word(name: str, layer: Any, kind: type, count: int) -> None:
    if isinstance(layer, str) or not isinstance(layer, Sequence) or not all(isinstance(value, kind) for value in layer):
        raise InputError(f"The {name} must be a list of {kind.__name__}, one for each word.")
    if len(layer) != count:
        raise InputError(f"There are {len(layer)} {name} for {count} words: give one for each word.")


def _check_parents(heads: Sequence[int]) -> None:
    for word, head in enumerate(heads):
        if not -1 <= head < len(heads) or head == word:
            raise InputError(
                f"Word {word} of {len(heads)} cannot have the head {head}: "
                "a head is the index of another word, or -1 for the root."
            )


def _check_spans(name: str, spans: Any, count: int) -> None:
    for span in spans:
        start, stop = span[:2]
        if not (isinstance(start, int) and isinstance(stop, int) and 0 <= start < stop <= count):
            raise InputError(f"One of the {name} goes from word {start} to {stop}, but the words are 0 to {count}.")


def _check_apart(name: str, spans: Sequence[tuple[Any, ...]]) -> None:
    for before, after in pairwise(spans):
        if after[0] < before[1]:
            raise InputError(f"The {name} must come in order and apart, but {after[:2]} follows {before[:2]}.")
