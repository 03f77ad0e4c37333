"""Windows: a document that is longer than a model reads, or is to read, in overlapping parts.

The rule. A window holds as many whole sentences as fit into the limit; words, where the document has no sentences, or the
next one does not fit alone. Every word is judged once, in the first window that holds it; the words that a window repeats
are its `context`. The next window begins at the sentence nearest to the middle of this one; if that would leave less than a
quarter of a window as context, or no room for the next sentence, at the first word from the middle on that leaves it room.
"""

import math
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache

from headscope.errors import InputError
from headscope.text.coreference.mention_kinds import kinds_of
from headscope.text.cut import Part, cut, origin_of
from headscope.text.document import Document
from headscope.text.mention import Mention

Length = Callable[[int, int], float]  # of the words from start to stop, in tokens


def windows(
    document: Document, length_of: Callable[[Document], int], max_tokens: int, *, singletons: bool = False
) -> Iterator[Part]:
    """A document in windows of at most `max_tokens` tokens, as `length_of` counts them, with all of its layers.

    A mention is judged where its last word is. One that crosses a window's edge is not in that window: `unjudged` says
    which are lost that way. `singletons=False` leaves out the mentions that corefer with nothing in the whole document,
    which CoNLL-2012 does not annotate. Kinds that are not annotated are found here, with the whole document in view.

    >>> document = Document(words=["Ann", "came", ".", "She", "sat", "."], sentences=[(0, 3), (3, 6)])
    >>> [(part.words, part.context) for part in windows(document, lambda part: len(part.words or ()), 4)]
    [(['Ann', 'came', '.'], 0), (['.', 'She', 'sat', '.'], 1)]
    """
    name = document.name or "A document"
    if document.words is None:
        raise InputError(f"{name} has no words to cut at: annotate it, or give words=[...].")
    if any(text is not None for text in (document.pair, document.pair_words, document.target, document.target_words)):
        raise InputError(f"{name} has a second text beside the first, so it cannot be cut into windows.")
    if document.mentions is not None:
        document = replace(document, mentions=_with_kinds(document, singletons))
    judged = 0
    for number, (start, stop) in enumerate(_spans(document, _measured(document, length_of), max_tokens), 1):
        part = f"{document.name}#{number}"
        yield cut(document, start, stop, name=part, context=judged - start, origin=origin_of(document))
        judged = stop


def unjudged(document: Document, parts: Sequence[Part]) -> list[Mention]:
    """The mentions that none of a document's windows judges: they are longer than half a window.

    Left-out singletons do not count, nor do clusters of which nothing is left.
    """
    judged = {
        (mention.start + part.start, mention.stop + part.start)
        for part in parts
        for mention in part.mentions or ()
        if mention.stop > part.context
    }
    known = {mention.cluster for part in parts for mention in part.mentions or ()}
    return [m for m in document.mentions or () if m.cluster in known and (m.start, m.stop) not in judged]


def _with_kinds(document: Document, singletons: bool) -> list[Mention]:
    mentions = document.mentions or ()
    times = Counter(mention.cluster for mention in mentions)
    kinds = zip(mentions, kinds_of(document), strict=True)
    return [mention._replace(kind=kind) for mention, kind in kinds if singletons or times[mention.cluster] > 1]


def _spans(document: Document, length: Length, limit: int) -> Iterator[tuple[int, int]]:
    """Where the windows start and stop."""
    words = document.words or ()
    if len(words) <= limit and length(0, len(words)) <= limit:
        yield 0, len(words)
        return
    edges = _edges(document)
    ends = _ends(document, edges)
    start = stop = 0
    while stop < len(words):
        first = bisect_right(ends, stop)  # the first end that gives the window a word to judge
        begin = _next_start(start, stop, ends[first], ends, edges, lambda *span: length(*span) <= limit) if stop else 0
        if length(begin, ends[first]) > limit:
            inside = edges[bisect_right(edges, stop) : bisect_left(edges, ends[first])]
            if not inside:
                raise InputError(
                    f"{document.name or 'A document'}: {' '.join(words[stop : ends[first]])!r} alone does not fit into a "
                    f"window of {limit} tokens; allow more."
                )
            ends[first:first] = inside  # a sentence that does not fit alone
            continue
        start, stop = begin, _furthest(begin, first, ends, length, limit)
        yield start, stop


def _measured(document: Document, length_of: Callable[[Document], int]) -> Length:
    bare = Document(words=document.words, spaces=document.spaces, multiwords=document.multiwords)

    @cache
    def length(start: int, stop: int) -> float:
        try:
            return length_of(cut(bare, start, stop))
        except InputError:  # the model itself refuses so long a text
            return math.inf

    return length


def _edges(document: Document) -> list[int]:
    """Where one may cut at all: between any two words, but not inside of words that are written as one."""
    inside = {word for multiword in document.multiwords or () for word in range(multiword.start + 1, multiword.stop)}
    return [word for word in range(len(document.words or ()) + 1) if word not in inside]


def _ends(document: Document, edges: Sequence[int]) -> list[int]:
    """Where a window may end: after a sentence, or what stands between two; without sentences, after any word."""
    if not document.sentences:
        return list(edges[1:])
    bounds = {edge for sentence in document.sentences for edge in sentence} & set(edges)
    return sorted((bounds | {edges[-1]}) - {0})


def _next_start(
    start: int, stop: int, end: int, ends: Sequence[int], edges: Sequence[int], fits: Callable[[int, int], bool]
) -> int:
    """Where the window after (start, stop) begins if it is to reach `end` at least."""
    middle = start + (stop - start + 1) // 2
    nearest = min(ends[bisect_right(ends, start) : bisect_right(ends, stop)], key=lambda edge: abs(edge - middle))
    if 4 * (stop - nearest) >= stop - start and fits(nearest, end):
        return nearest
    starts = edges[bisect_left(edges, middle) : bisect_right(edges, stop)]
    return starts[min(bisect_left(starts, True, key=lambda begin: fits(begin, end)), len(starts) - 1)]


def _furthest(start: int, first: int, ends: Sequence[int], length: Length, limit: int) -> int:
    """The last end up to which the words from `start` fit, as those up to ends[first] do: found by interpolation."""
    fitting, beyond, tried = first, len(ends), first
    while fitting + 1 < beyond:
        words_a_token = (ends[tried] - start) / max(length(start, ends[tried]), 1)
        guess = bisect_right(ends, start + limit * words_a_token) - 1
        tried = min(max(guess, fitting + 1), beyond - 1)
        if length(start, ends[tried]) <= limit:
            fitting = tried
        else:
            beyond = tried
    return ends[fitting]
