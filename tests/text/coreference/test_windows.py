"""Windows: every word judged once, none too long, each as full as it can be, and all layers still right."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import headscope
from headscope.errors import InputError
from headscope.text import Corpus, Document, Mention
from headscope.text.coreference.mention_kinds import kind_of
from headscope.text.coreference.windows import unjudged, windows
from headscope.text.cut import Part, cut, half_of
from headscope.text.natural_text import Multiword

LIMIT = 24


def in_words(document: Document) -> int:
    return len(document.words or ())


def in_letters(document: Document) -> int:
    """Three letters of the natural text are a token, and there are two special ones; the model refuses long texts."""
    tokens = len(document.text_and_spans()[0]) // 3 + 2
    if tokens > 2 * LIMIT:
        raise InputError("This is too long.")
    return tokens


both_lengths = pytest.mark.parametrize("length_of", [in_words, in_letters])


@st.composite
def annotated_documents(draw: st.DrawFn) -> Document:
    """All layers; sentences of any length, not all words in one; words written as one; mentions anywhere."""
    least = draw(st.sampled_from([1, 40]))  # lists come out short otherwise
    words = draw(st.lists(st.text("abc", min_size=1, max_size=7), min_size=least, max_size=80))
    count = len(words)
    edges = sorted(draw(st.sets(st.integers(0, count), max_size=8)) | {0, count})
    sentences = [span for span in pairwise(edges) if draw(st.integers(0, 9))]
    starts = draw(st.lists(st.integers(0, count - 1), max_size=12, unique=True))
    spans = {(start, min(start + draw(st.integers(1, 14)), count)) for start in starts}
    clusters = st.sampled_from("vwxyz")
    mentions = [Mention(*span, draw(clusters), draw(st.sampled_from(["PRON", "NOM", "PROP"]))) for span in sorted(spans)]
    distances = draw(st.lists(st.integers(-20, 20).filter(bool), min_size=count, max_size=count))
    heads = [word + far if 0 <= word + far < count else -1 for word, far in enumerate(distances)]
    return Document(
        words=words,
        name="d",
        spaces=draw(st.none() | st.lists(st.booleans(), min_size=count, max_size=count)),
        tags=[f"T{word}" for word in range(count)],
        parents=heads,
        relations=[f"r{word}" for word in range(count)],
        sentences=draw(st.sampled_from([None, sentences])),
        mentions=mentions,
        multiwords=[Multiword(start, start + 2, "ab") for start, stop in pairwise(edges) if stop - start > 1],
    )


@both_lengths
@settings(max_examples=60)
@given(document=annotated_documents())
def test_every_word_is_judged_once_and_no_window_is_too_long(document: Document, length_of) -> None:  # type: ignore[no-untyped-def]
    parts = list(windows(document, length_of, LIMIT))
    assert [word for part in parts for word in part.words[part.context :]] == document.words
    assert all(length_of(part) <= LIMIT for part in parts)
    assert all(part.context < len(part.words) for part in parts)
    for before, after in pairwise(parts):
        assert before.start < after.start, "no window lies in another"
        assert after.start + after.context == before.start + len(before.words), "context is what was judged before"


@both_lengths
@settings(max_examples=60)
@given(document=annotated_documents())
def test_layers_are_those_of_the_document(document: Document, length_of) -> None:  # type: ignore[no-untyped-def]
    for number, part in enumerate(windows(document, length_of, LIMIT, singletons=True), 1):
        start, stop = part.start, part.start + len(part.words)
        assert part.name == f"d#{number}"
        assert (part.words, part.tags, part.relations) == (
            document.words[start:stop],
            [f"T{word}" for word in range(start, stop)],
            [f"r{word}" for word in range(start, stop)],
        )
        assert part.spaces == (None if document.spaces is None else document.spaces[start:stop])
        for word, head in enumerate(part.parents):
            whole = document.parents[start + word]
            assert head == (whole - start if start <= whole < stop else -1)
        inside = [(m.start, m.stop, m.cluster, m.kind) for m in document.mentions if start <= m.start and m.stop <= stop]
        assert [(m.start + start, m.stop + start, m.cluster, m.kind) for m in part.mentions] == inside
        assert all(start in (m.start, m.stop) or not m.start < start < m.stop for m in document.multiwords)
        assert [(m.start + start, m.form) for m in part.multiwords] == [
            (m.start, m.form) for m in document.multiwords if start <= m.start and m.stop <= stop
        ]
        if document.sentences is not None:
            of_word = {word: place for place, span in enumerate(document.sentences) for word in range(*span)}
            here = [[of_word[word + start] for word in range(*span)] for span in part.sentences]
            assert all(len(set(places)) == 1 for places in here), "a sentence is part of one sentence"
            assert sum(map(len, here)) == sum(start <= word < stop for word in of_word)


@both_lengths
@settings(max_examples=60)
@given(document=annotated_documents())
def test_a_mention_is_judged_once_or_counted_as_unjudged(document: Document, length_of) -> None:  # type: ignore[no-untyped-def]
    parts = list(windows(document, length_of, LIMIT, singletons=True))
    judged = Counter(
        (mention.start + part.start, mention.stop + part.start)
        for part in parts
        for mention in part.mentions
        if mention.stop > part.context
    )
    assert set(judged.values()) <= {1}
    known = {mention.cluster for part in parts for mention in part.mentions}
    lost = [m for m in document.mentions if m.cluster in known and (m.start, m.stop) not in judged]
    assert unjudged(document, parts) == lost


@both_lengths
@settings(max_examples=60)
@given(document=annotated_documents())
def test_windows_end_with_sentences_and_are_full(document: Document, length_of) -> None:  # type: ignore[no-untyped-def]
    words = set(range(len(document.words) + 1)) - {multiword.start + 1 for multiword in document.multiwords}
    bounds = {0, len(document.words), *(edge for span in document.sentences or () for edge in span)} & words
    parts = list(windows(document, length_of, LIMIT))

    def fits(start: int, stop: int) -> bool:
        try:
            return length_of(cut(document, start, stop)) <= LIMIT
        except InputError:
            return False

    for part in parts[:-1]:
        stop = part.start + len(part.words)
        whole = bool(document.sentences) and stop in bounds
        following = min(edge for edge in (bounds if whole else words) if edge > stop)
        assert not fits(part.start, following), "the next sentence, or word, would have been too much"
        if document.sentences and not whole:
            sentence = max(edge for edge in bounds if edge < stop), min(edge for edge in bounds if edge > stop)
            assert not fits(*sentence), "only a sentence that does not fit alone is cut"
    for part, after in pairwise(parts):
        enough = 4 * after.context >= len(part.words)
        needed = after.start + len(after.words)
        middle = part.start + (len(part.words) + 1) // 2
        assert enough or not any(fits(place, needed) for place in words & set(range(middle, after.start))), (
            "less context only where there is no room"
        )


def test_by_hand() -> None:
    """Four sentences of 3, 3, 4 and 3 words; 8 words are a window."""
    words = [f"w{number}" for number in range(13)]
    document = Document(words=words, name="d", sentences=[(0, 3), (3, 6), (6, 10), (10, 13)])
    found = [(part.start, part.start + len(part.words), part.context) for part in windows(document, in_words, 8)]
    # The middle of 0 to 6 is 3, where a sentence begins; 3 to 10 are 7 words; its middle is 7, and 6 is nearest.
    assert found == [(0, 6, 0), (3, 10, 3), (6, 13, 4)]


def test_a_sentence_that_leaves_no_room_has_less_context_from_inside_of_a_sentence() -> None:
    document = Document(words=[f"w{number}" for number in range(14)], sentences=[(0, 7), (7, 13), (13, 14)])
    found = [(part.start, part.start + len(part.words), part.context) for part in windows(document, in_words, 8)]
    # Behind the middle of the first sentence (4) there would be 3 words of context, and 6 more are too many.
    assert found == [(0, 7, 0), (5, 13, 2), (7, 14, 6)]


def test_a_sentence_that_does_not_fit_is_cut_at_words_and_a_long_mention_is_lost() -> None:
    mentions = [Mention(0, 1, "a"), Mention(3, 5, "a"), Mention(1, 9, "b"), Mention(9, 10, "b")]
    document = Document(words=[f"w{number}" for number in range(10)], sentences=[(0, 10)], mentions=mentions)
    parts = list(windows(document, in_words, 4))
    assert [(part.start, part.context, len(part.words)) for part in parts] == [(0, 0, 4), (2, 2, 4), (4, 2, 4), (6, 2, 4)]
    assert unjudged(document, parts) == [Mention(1, 9, "b")]


def test_a_document_that_fits_is_one_window() -> None:
    document = Document(words=["a", "b", "c"], name="d", mentions=[Mention(0, 1, "x", "NOM"), Mention(2, 3, "x", "NOM")])
    (part,) = windows(document, in_words, 3)
    assert part == Part(words=["a", "b", "c"], name="d#1", mentions=document.mentions, origin=part.origin)
    assert part.context == 0


def test_singletons_are_those_of_the_whole_document() -> None:
    mentions = [Mention(0, 1, "Ann"), Mention(2, 3, "Bob"), Mention(7, 8, "Ann")]
    document = Document(words=["a"] * 8, mentions=mentions)
    without = [[mention.cluster for mention in part.mentions] for part in windows(document, in_words, 4)]
    assert without == [["Ann"], [], ["Ann"]], "Ann is alone in her window, not in the document"
    assert [mention.cluster for part in windows(document, in_words, 4, singletons=True) for mention in part.mentions] == [
        "Ann",
        "Bob",
        "Bob",
        "Ann",
    ]


def test_kinds_are_found_with_the_whole_document_in_view() -> None:
    words = ["Ann", "sat", ".", "We", "saw", "Ann", "."]
    mentions = [Mention(0, 1, "Ann"), Mention(5, 6, "Ann")]
    document = Document(words=words, sentences=[(0, 3), (3, 7)], mentions=mentions)
    first, _ = windows(document, in_words, 4)
    assert first.mentions == [Mention(0, 1, "Ann", "PROP")]
    assert kind_of(cut(document, 0, 3), Mention(0, 1, "Ann")) == "NOM", "its own window would not tell"


def test_all_windows_of_a_document_are_in_its_half() -> None:
    halves = set()
    for seed in range(8):
        document = Document(words=[f"w{seed}{number}" for number in range(20)])
        parts = list(windows(document, in_words, 5))
        assert {half_of(part) for part in parts} == {half_of(document)}
        halves.add(half_of(document))
    assert halves == {0, 1}


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (Document("A text."), "A document has no words to cut at"),
        (Document(words=["a"], pair_words=["b"], name="x"), "x has a second text beside the first"),
        (Document(words=["a", "b"], multiwords=[Multiword(0, 2, "ab")]), "'a b' alone does not fit into a window of 1"),
    ],
)
def test_errors(document: Document, message: str) -> None:
    with pytest.raises(InputError, match=message):
        list(windows(document, in_words, 1))


def test_context_is_some_of_the_words() -> None:
    assert Document(words=["a", "b"], context=2).context == 2
    for wrong in (-1, 3):
        with pytest.raises(InputError, match="The context is a number of the document's 2 words"):
            Document(words=["a", "b"], context=wrong)
    with pytest.raises(InputError, match="0 words, not 1"):
        Document("a b", context=1)


@pytest.mark.real
def test_litbank_in_windows_of_128_tokens(data: Path, minilm: Path) -> None:
    documents = list(Corpus.of(data / "coreference" / "litbank" / "tsv"))[:2]
    with headscope.open(minilm) as lens:
        for document in documents:
            parts = list(windows(document, lambda part: len(lens.encoder.encode(part).source), 128))
            lengths = [len(lens.encoder.encode(part).source) for part in parts]
            assert max(lengths) <= 128
            assert [word for part in parts for word in part.words[part.context :]] == document.words
            assert all(mention.stop - mention.start > 64 for mention in unjudged(document, parts)), "one of 129 words is"
            contexts = sorted(part.context / len(part.words) for part in parts[1:])
            assert contexts[len(contexts) // 2] > 0.4, "about half a window"
