"""Heads as classifiers: by hand, planted, and against a loop over whole maps."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import headscope
from headscope.errors import InputError
from headscope.lens.block import AttentionBlock, KeySide
from headscope.lens.site import Site
from headscope.lens.tokens.batch import Batch
from headscope.lens.tokens.encoding import TokenSequence
from headscope.lens.word_blocks import WordRows
from headscope.statistics import Relations
from headscope.statistics.base import Statistic
from headscope.statistics.words.relation_cases import Case, best_offsets, cases_of, offset_accuracies, offset_bin
from headscope.statistics.words.relations import DIRECTIONS
from headscope.text import Corpus, Document
from headscope.text.cut import half_of
from tests import places
from tests.statistics.tester import SITE, counted, lens_for

TO_HEAD, TO_DEPENDENT = DIRECTIONS
HAT = Document(
    words=["Ann", "'s", "old", "hat", "fell", "."],
    parents=[3, 0, 3, 4, -1, 4],
    relations=["nmod:poss", "case", "amod", "nsubj", "root", "punct"],
)
# Words of the tiny tokenizer, some of them in pieces; the trees need not make sense.
TREES = [
    Document(words=words.split(), parents=heads, relations=relations.split())
    for words, heads, relations in [
        (
            "the unbelievable cats sat on the mat .",
            [2, 2, 3, -1, 6, 6, 3, 3],
            "det amod nsubj root case det obl punct",
        ),
        ("a dog 's mat", [1, 3, 1, -1], "det nmod:poss case root"),
        ("the end", [1, -1], "det root"),
        ("end", [-1], "root"),
        ("unbelievable , unbelievable .", [-1, 2, 0, 0], "root punct conj punct"),
    ]
]


def by_hand(
    statistic: Statistic,
    document: Document,
    weights: list[list[float]],
    site: Site = SITE,
    rows: int = 99,
    specials: bool = True,
) -> Statistic:
    """The statistic over one document, a word a token; `weights` are those between the words."""
    words = [*document.words, *(document.pair_words or ())]
    edge = 1 if specials else 0  # [CLS] and [SEP]
    tokens, word_of = ["[CLS]"] * edge + words + ["[SEP]"] * edge, [None] * edge + [*range(len(words))] + [None] * edge
    count = len(tokens)
    special = [word is None for word in word_of]
    sequence = TokenSequence(list(range(count)), tokens, words, word_of, special, [0] * count)
    batch = Batch({"input_ids": torch.arange(count)[None]}, [sequence], [], [document])
    full = torch.full((count, count), 5.0)  # the special tokens get and give most
    full[edge : count - edge, edge : count - edge] = torch.tensor(weights)
    fresh = statistic.start([site])
    blocks = WordRows([statistic.measure], fresh.update)
    key_side = KeySide(site, torch.ones(1, 1, count, 1), None, None, None)
    for start in range(0, count, rows):
        some = range(start, min(start + rows, count))
        blocks(AttentionBlock(site, some, full[some.start : some.stop][None, None], None, key_side, batch))
    return fresh


def row_of(statistic: Statistic, relation: str, direction: str = TO_HEAD) -> dict[str, float]:
    table = statistic.table()
    (row,) = table[(table["relation"] == relation) & (table["direction"] == direction)].to_dict("records")
    return row


# By hand

#         Ann  's   old  hat  fell .
LOOKS = [
    [0.9, 0.4, 0.1, 0.3, 0.0, 0.0],  # Ann: itself, which does not count, then 's
    [0.1, 0.0, 0.2, 0.6, 0.0, 0.1],  # 's: hat
    [0.0, 0.0, 0.9, 0.1, 0.1, 0.0],  # old: hat and fell alike: the first of them
    [0.3, 0.2, 0.1, 0.0, 0.2, 0.0],  # hat: Ann
    [0.0, 0.0, 0.0, 0.0, 1.0, 0.0],  # fell: nothing but itself
    [0.0, 0.0, 0.0, 0.0, 0.3, 0.0],  # . : fell
]


def test_dependents_and_heads_by_hand() -> None:
    counts = by_hand(Relations(clitics=False), HAT, LOOKS)
    right = {"nmod:poss": (0, 1), "case": (0, 1), "amod": (1, 0), "nsubj": (0, 0), "punct": (1, 0)}
    for relation, (to_head, to_dependent) in right.items():
        assert row_of(counts, relation)["accuracy"] == to_head, relation
        # 's is what Ann looks at most; Ann is what hat looks at most
        assert row_of(counts, relation, TO_DEPENDENT)["accuracy"] == to_dependent, relation
        assert row_of(counts, relation)["cases"] == 1
    assert row_of(counts, "all")["accuracy"] == pytest.approx(2 / 5)
    assert row_of(counts, "all but punct")["accuracy"] == pytest.approx(1 / 4)
    assert row_of(counts, "all but punct", TO_DEPENDENT)["accuracy"] == pytest.approx(2 / 4)
    assert "root" not in set(counts.table()["relation"])


def test_the_clitic_stands_for_the_possessive() -> None:
    assert row_of(by_hand(Relations(clitics=False), HAT, LOOKS), "nmod:poss")["accuracy"] == 0
    counts = by_hand(Relations(), HAT, LOOKS)
    assert row_of(counts, "nmod:poss")["accuracy"] == 1, "'s looks at hat"
    assert row_of(counts, "nmod:poss", TO_DEPENDENT)["accuracy"] == 0, "hat looks at Ann, not at 's"
    assert row_of(counts, "nmod:poss")["offset"] == 2
    assert row_of(by_hand(Relations(clitics=False), HAT, LOOKS), "nmod:poss")["offset"] == 3


def test_columns_of_the_code_by_hand() -> None:
    counts = by_hand(Relations(variant="code", clitics=False), HAT, LOOKS)
    # Who gives most to Ann: hat. To 's: Ann. To old: 's, not hat. To hat: 's, not fell. To the period: 's, not fell.
    for relation, right in {"nmod:poss": 1, "case": 1, "amod": 0, "nsubj": 0, "punct": 0}.items():
        assert row_of(counts, relation, TO_DEPENDENT)["accuracy"] == right, relation
    assert row_of(counts, "all")["accuracy"] == pytest.approx(2 / 5), "the other direction stays"


@pytest.mark.parametrize("rows", [1, 2, 99])
def test_of_several_alike_in_a_column_it_is_the_first(rows: int) -> None:
    document = Document(words=["a", "b", "c"], parents=[-1, 0, 1], relations=["root", "x", "y"])
    counts = by_hand(Relations(variant="code"), document, [[0.0, 0.3, 0.3], [0.0, 0.0, 0.3], [0.0, 0.3, 0.0]], rows=rows)
    assert row_of(counts, "x", TO_DEPENDENT)["accuracy"] == 1, "a and c give b alike, and a is its head"
    assert row_of(counts, "y", TO_DEPENDENT)["accuracy"] == 0, "a and b give c alike, and b is its head"


@pytest.mark.parametrize("specials", [True, False])
def test_who_gives_nothing_to_others_is_wrong(specials: bool) -> None:
    document = Document(words=["Go", "home"], parents=[-1, 0], relations=["root", "advmod"])
    first = [[1.0, 0.0], [0.4, 0.6]]  # as in a decoder
    counts = by_hand(Relations(), document, first, specials=specials)
    assert row_of(counts, "advmod")["accuracy"] == 1
    assert row_of(counts, "advmod", TO_DEPENDENT)["accuracy"] == 0
    code = by_hand(Relations(variant="code"), document, first, specials=specials)
    assert row_of(code, "advmod", TO_DEPENDENT)["accuracy"] == 0
    nobody = by_hand(Relations(), document, [[1.0, 0.0], [0.0, 1.0]], specials=specials)
    assert row_of(nobody, "advmod")["accuracy"] == 0, "nothing is not the first word"


def test_a_decoder_cannot_see_what_follows() -> None:
    decoder = Site(index=0, stack="decoder", kind="self", layer=0, heads=1, key_value_heads=1, head_size=1)
    counts = by_hand(Relations(clitics=False), HAT, LOOKS, site=decoder)
    assert row_of(counts, "all")["visible"] == 2, "case and punct have their heads on the left"
    assert row_of(counts, "all", TO_DEPENDENT)["visible"] == 3
    assert row_of(by_hand(Relations(), HAT, LOOKS), "all")["visible"] == 5


def test_the_offset_baseline_by_hand() -> None:
    document = Document(
        words=list("abcdefg"), parents=[1, 2, -1, 2, 3, 6, 2], relations=["x", "x", "root", "x", "x", "x", "y"]
    )
    counts = by_hand(Relations(), document, np.zeros((7, 7)).tolist())
    x, y = row_of(counts, "x"), row_of(counts, "y", TO_DEPENDENT)
    assert (x["cases"], x["offset"], x["baseline"]) == (5, 1, pytest.approx(3 / 5))  # a, b, f: the head is the next word
    assert (y["cases"], y["offset"], y["baseline"]) == (1, -4, 1), "head less dependent, in both directions"
    assert row_of(counts, "all")["baseline"] == pytest.approx(3 / 6)
    assert np.isnan(x["baseline_held_out"]), "one document is in one half"
    half = half_of(document)
    assert (x[f"cases_half{half}"], x[f"cases_half{1 - half}"]) == (5, 0)


def test_offsets_are_bounded_and_the_nearer_of_two_wins() -> None:
    histogram = np.zeros((3, 67))
    histogram[0, [offset_bin(-100), offset_bin(33), offset_bin(4)]] = [6, 3, 1]
    histogram[1, [offset_bin(-9), offset_bin(2)]] = 4
    histogram[2, [offset_bin(-3), offset_bin(3), offset_bin(32)]] = [2, 2, 1]
    best = best_offsets(histogram)
    assert best.tolist() == [4, 2, -3]
    assert offset_accuracies(histogram, best).tolist() == [0.1, 0.5, 0.4]


def test_held_out_baseline_by_hand() -> None:
    counts = by_hand(Relations(), HAT, LOOKS)
    histogram = np.zeros((2, 67))
    histogram[0, [offset_bin(1), offset_bin(2)]] = [3, 2]
    histogram[1, [offset_bin(1), offset_bin(2)]] = [1, 4]
    counts.state["offsets amod"] = histogram
    # The first half's best is 1, right in 1 of the second's 5; the second's is 2, right in 2 of the first's 5.
    assert row_of(counts, "amod")["baseline_held_out"] == pytest.approx(3 / 10)
    assert row_of(counts, "amod")["baseline"] == pytest.approx(6 / 10)


@pytest.mark.parametrize(
    ("words", "heads", "relations", "dependent"),
    [
        (["Ann", "'s", "hat"], [2, 0, -1], ["poss", "possessive", "root"], 1),
        (["Ann", "’S", "hat"], [2, 0, -1], ["nmod:poss", "case", "root"], 1),
        (["boys", "'", "hat"], [2, 0, -1], ["nmod:poss", "case", "root"], 1),
        (["Ann", "'s", "hat"], [2, 0, -1], ["compound", "case", "root"], 0),  # no possessive
        (["my", "'s", "hat"], [2, 2, -1], ["nmod:poss", "case", "root"], 0),  # another word's clitic
        (["its", "hat", "fell"], [1, 2, -1], ["nmod:poss", "nsubj", "root"], 0),  # no clitic
        (["mine", "for", "hat"], [2, 0, -1], ["nmod:poss", "case", "root"], 0),  # a preposition
    ],
)
def test_clitics(words: list[str], heads: list[int], relations: list[str], dependent: int) -> None:
    document = Document(words=words, parents=heads, relations=relations)
    assert cases_of(document)[0] == Case(dependent, heads[0], relations[0])
    assert cases_of(document, clitics=False)[0].dependent == 0


def test_a_possessive_at_the_end_has_no_clitic() -> None:
    document = Document(words=["hat", "his"], parents=[-1, 0], relations=["root", "nmod:poss"])
    assert cases_of(document) == [Case(1, 0, "nmod:poss")]


def test_settings() -> None:
    merged = by_hand(Relations(subtypes=False), HAT, LOOKS)
    assert {"nmod", "case"} < set(merged.table()["relation"])
    assert row_of(merged, "nmod")["accuracy"] == 1, "the clitic counts still"
    assert Relations().table_name == "relations"
    assert Relations("norm", variant="code").table_name == "relations_norm_code"
    with pytest.raises(InputError, match="counts in words, not in tokens"):
        Relations(level="token")
    with pytest.raises(InputError, match="variant='paper' or 'code', not 'notebook'"):
        Relations(variant="notebook")
    with pytest.raises(InputError, match="has no dependencies"):
        by_hand(Relations(), Document(words=["no", "tree"]), np.zeros((2, 2)).tolist())


def test_halves_depend_on_the_words_alone() -> None:
    words = [str(number) for number in range(400)]
    halves = [half_of(Document(words=[word])) for word in words]
    assert halves == [half_of(Document(words=[word], name="again", parents=[-1])) for word in words]
    assert 150 < sum(halves) < 250


def test_no_cases_at_all() -> None:
    alone = Document(words=["Go"], parents=[-1], relations=["root"])
    table = by_hand(Relations(), alone, [[1.0]]).table()
    assert list(table["relation"].unique()) == ["all", "all but punct"]
    assert table["accuracy"].isna().all()
    assert (table["cases"] == 0).all()
    assert table["offset"].isna().all()


# Planted


@st.composite
def planted(draw: st.DrawFn) -> tuple[Document, list[list[float]], list[list[float]]]:
    """A random tree; a map in which words look most at their heads, and one in which heads look most at dependents."""
    count = draw(st.integers(2, 9))
    heads = [-1, *(draw(st.integers(0, word - 1)) for word in range(1, count))]
    order = draw(st.permutations(range(count)))
    heads = [-1 if heads[old] < 0 else order.index(heads[old]) for old in order]
    weights = torch.rand(count, count, generator=torch.Generator().manual_seed(draw(st.integers(0, 99)))) * 0.4
    up, down = weights.clone(), weights.clone()
    for word, head in enumerate(heads):
        if head >= 0:
            up[word, head] = 0.5
            down[head, word] = 0.5
    relations = ["root" if head < 0 else draw(st.sampled_from(["a", "b", "punct"])) for head in heads]
    return (
        Document(words=[f"w{word}" for word in range(count)], parents=heads, relations=relations),
        up.tolist(),
        down.tolist(),
    )


@given(planted(), st.integers(1, 12))
def test_planted_relations_are_found(case: tuple[Document, list[list[float]], list[list[float]]], rows: int) -> None:
    document, up, down = case
    table = by_hand(Relations(), document, up, rows=rows).table()
    assert (table.loc[table["direction"] == TO_HEAD, "accuracy"].dropna() == 1).all()
    # A head has one word that it looks at most: as many cases are right as there are heads.
    looked = by_hand(Relations(), document, down, rows=rows)
    right = row_of(looked, "all", TO_DEPENDENT)
    assert right["accuracy"] * right["cases"] == pytest.approx(len(set(document.parents) - {-1}))
    # In the columns every dependent has one head that looks at it.
    code = by_hand(Relations(variant="code"), document, down, rows=rows).table()
    assert (code.loc[code["direction"] == TO_DEPENDENT, "accuracy"].dropna() == 1).all()


def test_columns_of_resampled_sums() -> None:
    counts = counted(Relations(), "bert", TREES)
    twice = {name: np.stack([array, 3 * array]) for name, array in counts.state.items()}
    columns = counts.columns(twice)["accuracy"]
    assert columns.shape == (2, len(counts.table()))
    np.testing.assert_allclose(columns[0], counts.table()["accuracy"])
    np.testing.assert_allclose(columns[0], columns[1])


def test_only_the_annotated_text_is_read() -> None:
    pairs = [Document(words=d.words, parents=d.parents, relations=d.relations, target="a dog") for d in TREES[:2]]
    table = counted(Relations(), "marian", pairs).table()
    assert set(zip(table["stack"], table["kind"], strict=True)) == {("encoder", "self")}
    np.testing.assert_array_equal(
        counted(Relations(), "marian", TREES[:2]).table()["accuracy"], table["accuracy"], "the target changes nothing"
    )


def test_words_of_a_second_text_are_no_candidates() -> None:
    document = Document(words=["Go", "home"], parents=[-1, 0], relations=["root", "advmod"], pair_words=["now"])
    weights = [[0.1, 0.2, 0.7], [0.2, 0.1, 0.7], [0.1, 0.7, 0.2]]
    for variant in ("paper", "code"):
        counts = by_hand(Relations(variant=variant), document, weights)
        assert row_of(counts, "advmod")["accuracy"] == 1
        assert row_of(counts, "advmod", TO_DEPENDENT)["accuracy"] == 1


def row_of_head(statistic: Statistic, relation: str) -> dict[str, float]:
    table = statistic.table()
    return table[table["relation"] == relation].iloc[0].to_dict()


def test_what_truncation_cuts_off_is_not_counted() -> None:
    lens = lens_for("bert")
    fresh = Relations().start(lens.sites)
    lens.run(lens.encoder.batch(TREES[:1], max_tokens=9, truncate=True), WordRows(["weight"], fresh.update))  # the ... sat
    assert {relation: row_of_head(fresh, relation)["cases"] for relation in fresh.relations} == {
        "all": 3,
        "all but punct": 3,
        "amod": 1,
        "det": 1,
        "nsubj": 1,
    }


# Against a loop over whole maps

DATA = places.DATA
SENTENCES = 50


@cache
def ewt() -> list[Document]:
    file = DATA / "treebank" / "en_ewt-ud-dev.conllu"
    if not file.is_file():
        pytest.skip(f"the treebank {file} is not here: name its folder with HEADSCOPE_DATA")
    possessive = [document for document in Corpus.of(file) if "nmod:poss" in document.relations and len(document.words) < 40]
    return possessive[:SENTENCES]


def loop(lens: headscope.Lens, documents: list[Document], variant: str) -> tuple[Counter, Counter]:
    """The textbook: for each document and head the whole word map, a loop over its words.

    A case within rounding of a tie is right in `most` and wrong in `least`.
    """
    least, most = Counter(), Counter()
    for document in documents:
        reading = lens.read(document).to_words()
        present = sorted({word for word in reading.batch.sources[0].word_of if word is not None})
        maps = reading.scores("weight").double().numpy()  # layer head row key, with [CLS] and [SEP]
        keep = range(1, 1 + len(present))
        maps = maps[:, :, keep][:, :, :, keep]
        for word, (head, relation) in enumerate(zip(document.parents, document.relations, strict=True)):
            if head < 0:
                continue
            clitic = word + 1 < len(document.words) and document.parents[word + 1] == word
            clitic = clitic and document.words[word + 1].lower() in ("'s", "’s", "'", "s")
            dependent = word + 1 if relation == "nmod:poss" and clitic else word
            if dependent not in present or head not in present:
                continue
            here, there = present.index(dependent), present.index(head)
            for layer in range(maps.shape[0]):
                for number in range(maps.shape[1]):
                    weights = maps[layer, number]
                    tried = {TO_HEAD: (weights[here], here, there), TO_DEPENDENT: (weights[there], there, here)}
                    if variant == "code":
                        tried[TO_DEPENDENT] = (weights[:, here], here, there)
                    for direction, (line, own, target) in tried.items():
                        others = [line[other] for other in range(len(line)) if other not in (own, target)]
                        best = max(others, default=0.0)
                        for name in ("all", relation):
                            key = (name, direction, layer, number)
                            least[key] += line[target] > best * (1 + 1e-5)
                            most[key] += line[target] >= best * (1 - 1e-5)
    return least, most


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.parametrize("variant", ["paper", "code"])
def test_fifty_real_sentences_equal_the_loop(minilm: Path, variant: str) -> None:
    documents = ewt()
    with headscope.open(minilm) as lens:
        table = headscope.study(lens, documents, [Relations(variant=variant)], batch_size=8)
        table = table[Relations(variant=variant).table_name]
        least, most = loop(lens, documents, variant)
    checked = 0
    for row in table.to_dict("records"):
        key = (row["relation"], row["direction"], row["layer"], row["head"])
        if row["relation"] != "all but punct":
            assert least[key] <= round(row["accuracy"] * row["cases"]) <= most[key], key
            checked += 1
    assert checked > 1000
    assert sum(most.values()) - sum(least.values()) < 1e-3 * sum(most.values()), "hardly any case is a tie"
