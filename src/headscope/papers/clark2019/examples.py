"""Sentences for figures 1 and 5: short ones, from the run's own data, on which a head does what it is known for."""

import heapq
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from headscope.lens.lens import Lens
from headscope.lens.reading import Reading
from headscope.statistics.words.relation_cases import Case, cases_of
from headscope.statistics.words.relations import DIRECTIONS
from headscope.text import Corpus, Document
from headscope.text.coreference.cases import cases as antecedent_cases
from headscope.text.cut import cut
from headscope.views.from_reading import content_of
from headscope.views.print import Shown, map_of

FEW, MANY = 8, 16  # words of a sentence that makes a good picture
LONGEST = 40  # words: no picture fits more
TRIES = 40  # sentences that are read for one picture, the shortest first
TOKENS = 22  # of the text of figure 1, about: lines between many more are one wedge of ink
LETTERS = 8  # of a token of that text: longer ones leave lines no room
SEGMENTS = 300  # among which that text is looked for

Questions = list[tuple[int, frozenset[int]]]  # which word is asked, and where it should look most


@dataclass(frozen=True)
class Answered:
    """A sentence on which every question is answered right, and the words that were asked, as places in the map."""

    document: Document
    found: Shown
    asked: list[int]


def opening_text(corpus: Corpus, lens: Lens) -> Document:
    """A sentence of a segment, and of its second part where it has one: about as long as in figure 1.

    What ends in no full stop is a heading or the entry of a list, and is taken only where there is nothing else.
    """

    def strangeness(document: Document) -> tuple[bool, int]:
        whole = all(text.rstrip().endswith((".", "!", "?")) for text in (document.text, document.pair) if text is not None)
        tokens = lens.encoder.encode(document, truncate=True).source.tokens
        return not whole, abs(len(tokens) - TOKENS) + max(0, max(map(len, tokens)) - LETTERS)

    return min((_short_sentences(document) for document in islice(corpus, SEGMENTS)), key=strangeness)


def relation_questions(
    relation: str, direction: str, cases: Callable[[Document], list[Case]] = cases_of
) -> Callable[[Document], Questions]:
    """Of a relation in one direction: each dependent should look at its head, or each head at one of its dependents."""

    def questions(document: Document) -> Questions:
        asked = [case for case in cases(document) if case.relation == relation]
        if direction == DIRECTIONS[0]:
            return [(case.dependent, frozenset([case.head])) for case in asked]
        return [(case.head, frozenset([case.dependent])) for case in asked]

    return questions


def antecedent_questions(document: Document) -> Questions:
    """Each mention's head word should look at that of an antecedent."""
    return [(case.head, case.antecedents) for case in antecedent_cases(document)]


def coreference_spans(documents: Iterable[Document]) -> Iterator[Document]:
    """For every mention the sentences from its nearest antecedent on, without longer ones than a picture can hold."""
    for document in documents:
        for case in antecedent_cases(document):
            earlier = [mention for mention in case.earlier if mention.cluster == case.mention.cluster]
            start, stop = earlier[-1].start, case.mention.stop
            for first, last in document.sentences or ():
                start = first if first <= start < last else start
                stop = last if first < stop <= last else stop
            if stop - start <= LONGEST:
                yield cut(document, start, stop, name=document.name)


def answered(
    documents: Iterable[Document],
    questions: Callable[[Document], Questions],
    read: Callable[[Document], Reading],
    layer: int,
    head: int,
    measure: str,
) -> Answered | None:
    """The shortest good sentence on which the head answers every question right; None where a few tries find none.

    As in section 4: the word asked about looks most at the one wanted, among all other words, special tokens cut.
    """

    def length(entry: tuple[int, Document]) -> tuple[bool, int, int]:
        words = len(entry[1].words or ())
        return not FEW <= words <= MANY, words, entry[0]

    fitting = (document for document in documents if len(document.words or ()) <= LONGEST and questions(document))
    for _, document in heapq.nsmallest(TRIES, enumerate(fitting), key=length):
        reading = read(document)
        content = content_of(reading, [measure], only={layer: [head]}).with_special_sinks()
        found = map_of(content, layer, head, measure=measure, without_sinks=True)
        places = word_places(reading, found)
        asked = questions(document)
        if all(_looks_at(found, places, word, wanted) for word, wanted in asked):
            return Answered(document, found, sorted({places[word] for word, _ in asked}))
    return None


def word_places(reading: Reading, found: Shown) -> dict[int, int]:
    """Of each word of the document its place among the words that are shown."""
    source = reading.batch.sources[0]
    groups = [pieces[0] for pieces in source.groups()[1]]
    shown = {place: index for index, place in enumerate(found.queries.places)}
    words = ((source.word_of[piece], place) for place, piece in enumerate(groups))
    return {word: shown[place] for word, place in words if word is not None and place in shown}


def _looks_at(found: Shown, places: dict[int, int], word: int, wanted: Sequence[int] | frozenset[int]) -> bool:
    if word not in places:
        return False
    row = found.scores[0, places[word]].copy()
    row[places[word]] = 0
    return bool(row.max() > 0) and int(np.argmax(row)) in {places[other] for other in wanted if other in places}


def _short_sentences(document: Document) -> Document:
    text = document.text if document.text is not None else document.text_and_spans()[0]
    pair = " ".join(document.pair_words) if document.pair_words is not None else document.pair
    if pair is None:
        return Document(_sentence(text, TOKENS - 2), name=document.name)
    return Document(_sentence(text, TOKENS // 2 - 1), _sentence(pair, TOKENS // 2 - 1), name=document.name)


def _sentence(text: str, words: int) -> str:
    """The sentence that has about so many words; a heading has no full stop, and is none where there are others.

    A sentence ends with a full stop before a space, not with that of an abbreviation of two letters.

    >>> _sentence("The St . Lucie rose . We left .", 5), _sentence("The St . Lucie rose . We left .", 3)
    ('The St . Lucie rose .', 'We left .')
    """
    every = re.split(r"(?<=\w{3}[.!?])\s+|(?<=\w{3} [.!?])\s+", text.strip())
    return min(every, key=lambda one: (not one.endswith((".", "!", "?")), abs(len(one.split()) - words)))
