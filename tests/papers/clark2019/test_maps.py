"""Figures 1 and 5 of clark2019: the heads and sentences that are chosen, and what is drawn of them."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import LineCollection

import headscope
from headscope.colours import BLUE
from headscope.papers.clark2019 import examples, maps
from headscope.papers.clark2019.maps import Example, drawn, pairs_drawn
from headscope.papers.clark2019.surface import EdgeTokens
from headscope.statistics import Antecedents, Relations
from headscope.statistics.words.relations import DIRECTIONS
from headscope.study.results.workspace import Unsuitable
from headscope.text import Corpus, Document
from headscope.text.mention import Mention
from headscope.views.from_arrays import content_of_arrays
from headscope.views.from_reading import content_of
from headscope.views.print import map_of
from headscope.views.print.panels import BEHIND
from tests.tiny import tiny
from tests.tiny_tokenizers import tiny_tokenizer


@pytest.fixture(scope="module")
def lens() -> headscope.Lens:
    return headscope.open(tiny("bert"), tiny_tokenizer("wordpiece"))


@pytest.fixture(scope="module")
def treebank(data: dict[str, Path]) -> Corpus:
    return Corpus.from_files(data["treebank"])


def counted(lens: headscope.Lens, document: Document, statistic: Relations | Antecedents, folder: Path) -> pd.DataFrame:
    """The statistic that table 1 or 2 is made of, on one document."""
    return headscope.study(lens, [document], [statistic], out=folder)[statistic.table_name]


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_an_answered_sentence_is_right_by_the_statistic(
    lens: headscope.Lens, treebank: Corpus, tmp_path: Path, direction: str
) -> None:
    """The statistic of table 1 finds an accuracy of 1 on the example of a head, in both directions."""
    questions = examples.relation_questions("case", direction)
    tried = 0
    for layer, head in product(range(3), range(4)):
        found = examples.answered(list(treebank)[::8], questions, lens.read, layer, head, "weight")
        if found is None:
            continue
        table = counted(lens, found.document, Relations(), tmp_path / f"{layer}.{head}")
        chosen = table.query("relation == 'case' and layer == @layer and head == @head and direction == @direction")
        assert chosen["accuracy"].tolist() == [1.0]
        labels = [found.found.queries.labels[place] for place in found.asked]
        words = found.document.words or ()
        assert labels == [words[word] for word in sorted({word for word, _ in questions(found.document)})]
        tried += 1
        if tried == 2:
            break
    assert tried


def test_a_sentence_that_is_wrong_is_not_shown(lens: headscope.Lens, treebank: Corpus) -> None:
    questions = examples.relation_questions("det", DIRECTIONS[0])
    rights = []
    for document in treebank:
        found = map_of(content_of(lens.read(document)).with_special_sinks(), 1, 2, without_sinks=True)
        looks = [np.delete(found.scores[0, word], word).argmax() for word, _ in questions(document)]
        looks = [int(key) + (key >= word) for key, (word, _) in zip(looks, questions(document), strict=True)]
        rights.append(all(key in wanted for key, (_, wanted) in zip(looks, questions(document), strict=True)))
    assert not all(rights)
    wrong = [document for document, right in zip(treebank, rights, strict=True) if not right]
    assert examples.answered(wrong, questions, lens.read, 1, 2, "weight") is None


def test_the_shortest_good_sentence_is_tried_first(lens: headscope.Lens) -> None:
    def sentence(count: int) -> Document:
        return Document(words=["the"] * count)

    documents = [sentence(count) for count in (20, 3, 12, 9, 41)]
    tried: list[int] = []

    def read(document: Document) -> headscope.Reading:
        tried.append(len(document.words or ()))
        return lens.read(document)

    assert examples.answered(documents, lambda _: [(0, frozenset())], read, 0, 0, "weight") is None
    assert tried == [9, 12, 3, 20]


def test_coreference_spans_reach_from_the_antecedent_to_the_mention() -> None:
    words = ["one", "cat", ".", "the", "dog", "sat", ".", "a", "mat", ".", "it", "sat", ".", "the", "end", "."]
    document = Document(
        words=words,
        sentences=[(0, 3), (3, 7), (7, 10), (10, 13), (13, 16)],
        mentions=[Mention(0, 2, "cat"), Mention(3, 5, "dog"), Mention(10, 11, "dog")],
    )
    (span,) = examples.coreference_spans([document])
    assert span.words == words[3:13]
    ((asked, antecedents),) = examples.antecedent_questions(span)
    assert (asked, antecedents) == (7, frozenset([1]))


def test_figure_1_shows_the_head_with_most_of_each_pattern(lens: headscope.Lens, data: dict[str, Path]) -> None:
    shares = pd.DataFrame(
        {
            "stack": "encoder", "kind": "self", "layer": [0, 0, 1, 1], "head": [0, 1, 0, 1],
            "entropy": [2.0, 1, 1, 1], "uniform": 2.1, "next token": [0, 0.9, 0, 0],
            "separator": [0.1, 0, 0.3, 0], "period": [0, 0, 0, 0.8],
        }
    )  # fmt: skip
    corpus = Corpus.from_files(data["text"], format="paragraph-pairs")
    result = maps.figure1(shares, EdgeTokens(lens), corpus, lens, "weight")
    assert result.printed["Head"].tolist() == ["1-1", "1-2", "2-1", "2-2"]
    assert result.printed["Pattern"].tolist() == ["broad", "next token", "separator", "period"]
    assert result.figure is not None
    written = " ".join(text.get_text() for text in result.figure.axes[0].texts)
    for said in (
        "Attends broadly",
        "Attends to the next token",
        "More than any other head to [SEP]",
        "30.0% of its attention",
    ):
        assert said in written
    rows = result.table.groupby(["name", "row"])["score"].sum()
    assert rows.to_numpy() == pytest.approx(1, abs=1e-5)


def test_panels_draw_their_words_in_blue_and_their_scores(lens: headscope.Lens) -> None:
    document = Document(words=["the", "cat", "sat", "on", "the", "unbelievable", "mat", "."])
    found = map_of(content_of(lens.read(document)).with_special_sinks(), 1, 2, without_sinks=True)
    panel = Example("det", 1, 2, 0.5, ["Determiners attend to their nouns"], found, [0, 4], document)
    figure = drawn([panel, panel], 2)
    marked = [lines for lines in figure.axes[0].collections if lines.get_gid() == "marked"]
    assert len(marked) == 2
    rows = np.array([np.delete(found.scores[0, word], word) for word in (0, 4)])  # section 4 leaves a word itself aside
    expected = np.sort((rows / rows.max(1, keepdims=True)).ravel())
    assert isinstance(marked[0], LineCollection)
    opacities = np.sort(np.array(marked[0].get_colors())[:, 3])
    assert opacities == pytest.approx(expected[expected >= 1 / 255], abs=1e-6)
    (others,) = [lines for lines in figure.axes[0].collections if lines.get_gid() == "others"][:1]
    grey = np.delete(found.scores[0], [0, 4], 0) / found.scores.max()
    assert np.sort(np.array(others.get_colors())[:, 3]) == pytest.approx(np.sort(grey[grey >= 1 / 255]), abs=1e-6)
    blue = [text.get_text() for text in figure.axes[0].texts if text.get_color() == BLUE]
    assert blue == ["the", "the"] * 2
    assert panel.marked_text == "**the** cat sat on **the** unbelievable mat ."
    table = pairs_drawn([panel])
    np.testing.assert_array_equal(table["score"].to_numpy().reshape(8, 8), found.scores[0])
    assert set(table[table["marked"]]["row"]) == {0, 4}


def test_the_line_to_what_a_word_looks_at_most_does_not_vanish() -> None:
    """Words that look at themselves first, and one that looks a little at another: its line is seen all the same."""
    scores = np.array([[0.98, 0.01, 0.01], [0.03, 0.95, 0.02], [0.01, 0.02, 0.97]], dtype=np.float32)
    content = content_of_arrays(["Elizabeth", "liked", "her"], scores)
    document = Document(words=["Elizabeth", "liked", "her"], name="some/where/105.conll#3")
    panel = Example("coreference", 0, 0, 0.5, ["says"], map_of(content, 0, 0), [2], document)
    figure = drawn([panel], 4)
    (marked,) = [lines for lines in figure.axes[0].collections if lines.get_gid() == "marked"]
    assert sorted(np.array(marked.get_colors())[:, 3]) == pytest.approx([0.5, 1.0])  # to Elizabeth half of that to liked
    assert "105.conll#3" in [text.get_text() for text in figure.axes[0].texts]  # which text it is, without its folder


def test_figure_1_draws_what_its_titles_say(lens: headscope.Lens) -> None:
    """The pattern in blue, in front; all else grey: a head of [SEP] may well give more to [CLS]."""
    document = Document("the cat sat . a dog .", pair="two dogs .")
    found = map_of(lens.read(document), 1, 2, level="token")
    labels, tokens = found.keys.labels, EdgeTokens(lens)
    for pattern, keys in (("separator", ["[SEP]"]), ("period", ["."])):
        shows = maps._shows(pattern, found, tokens)
        assert shows is not None
        assert [labels[key] for key in np.flatnonzero(shows.all(0))] == keys * labels.count(keys[0])
        assert shows.any(0).sum() == labels.count(keys[0])
        figure = drawn([Example(pattern, 1, 2, 0.5, ["says"], found, [], document, shows)])
        lines = {one.get_gid(): np.array(one.get_colors()) for one in figure.axes[0].collections}
        blue, grey = found.scores[0][shows], found.scores[0][~shows]
        largest = found.scores.max()
        assert lines["marked"][:, 3].max() == pytest.approx(blue.max() / largest)
        assert lines["others"][:, 3].max() == pytest.approx(BEHIND * grey.max() / largest)
        assert not np.allclose(lines["marked"][0, :3], lines["others"][0, :3])
    following = maps._shows("next token", found, tokens)
    assert following is not None
    assert list(zip(*np.nonzero(following), strict=True)) == [(row, row + 1) for row in range(len(labels) - 1)]
    assert maps._shows("broad", found, tokens) is None


def test_relations_the_other_way_round_are_named_so(lens: headscope.Lens, treebank: Corpus) -> None:
    """UD's case hangs the preposition on its noun, so its dependents are the prepositions of the paper's pobj."""
    best = pd.DataFrame(
        {"relation": ["case"], "direction": DIRECTIONS[0], "layer": 0, "head": 0, "accuracy": 0.5, "better": True}
    )
    said = []
    for head in range(4):
        try:
            result = maps.figure5(best.assign(head=head), treebank, None, [], lens, "weight")
        except Unsuitable:
            continue
        assert result.figure is not None
        said.append(" ".join(text.get_text() for text in result.figure.axes[0].texts))
    assert said
    assert all("Prepositions attend to their objects" in text and "50.0% accuracy at case" in text for text in said)


def test_nothing_to_show_is_said(lens: headscope.Lens, treebank: Corpus) -> None:
    none = pd.DataFrame({"relation": ["obl"], "direction": "", "layer": 0, "head": 0, "accuracy": 0.5, "better": True})
    with pytest.raises(Unsuitable, match="no short sentence was found"):
        maps.figure5(none, treebank, None, [], lens, "weight")


@pytest.mark.real
def test_real_sentences(minilm: Path) -> None:
    """all-MiniLM-L6-v2 knows determiners: head 3-9, on a sentence with three."""
    words = ["The", "keys", "to", "the", "old", "cabinet", "are", "on", "a", "small", "table", "."]
    heads = [1, 10, 5, 5, 5, 1, 10, 10, 10, 10, -1, 10]
    relations = ["det", "nsubj", "case", "det", "amod", "nmod", "cop", "case", "det", "amod", "root", "punct"]
    document = Document(words=words, parents=heads, relations=relations)
    with headscope.open(minilm) as lens:
        found = examples.answered([document], examples.relation_questions("det", DIRECTIONS[0]), lens.read, 2, 8, "weight")
    assert found is not None
    assert [found.found.queries.labels[place] for place in found.asked] == ["The", "the", "a"]


def test_the_text_of_figure_1_is_whole_sentences(lens: headscope.Lens) -> None:
    cat, dog = "the cat sat on the mat .", "a dog and two dogs . the end ."
    corpus = Corpus.from_documents([Document("the cat sat on " * 6, dog), Document(cat, dog), Document("the end .")])
    chosen = examples.opening_text(corpus, lens)
    assert (chosen.text, chosen.pair) == (cat, "a dog and two dogs .")


def test_the_text_of_figure_1_is_short(lens: headscope.Lens) -> None:
    """Lines between many tokens are one wedge of ink: of a segment the sentences that are short enough, not the first."""
    long, short = " ".join(["the cat sat on the mat and"] * 5) + " sat .", "the cat sat on the mat and two dogs sat ."
    corpus = Corpus.from_documents([Document(f"{long} {short}", f"{short} {long}")])
    chosen = examples.opening_text(corpus, lens)
    assert (chosen.text, chosen.pair) == (short, short)
