"""The statistics of vig2019, eqs. 3 to 7: loops over full maps on real sentences, by hand on three tokens, and laws."""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import headscope
from headscope.statistics import (
    Dependencies,
    DependencyLengths,
    Distance,
    Entropy,
    Exemplars,
    MeanMap,
    RelationTypes,
    Tags,
    Variability,
)  # fmt: skip
from headscope.statistics.base import Statistic
from headscope.statistics.exemplars import document_number
from headscope.text import Corpus, Document
from tests import places
from tests.statistics.tester import assert_same, block_by_hand, columns_by_hand, counted, lens_for

DATA = places.DATA


def annotated(text: str, tags: str, heads: list[int]) -> Document:
    words = text.split()
    return Document(words=words, tags=tags.split(), parents=heads, relations=[f"r{head}" for head in heads])


DOCUMENTS = [
    annotated("the unbelievable cats sat", "DET ADJ NOUN VERB", [2, 2, 3, -1]),
    annotated("a dog , two dogs", "DET NOUN PUNCT NUM NOUN", [1, -1, 4, 4, 1]),
    annotated("one cat", "NUM NOUN", [1, -1]),
    annotated("the end . the end", "DET NOUN PUNCT DET NOUN", [1, -1, 1, 4, 1]),
]
FILTERED = [cls(without_first=True) for cls in (Tags, RelationTypes, Dependencies, Distance, Entropy, Exemplars, MeanMap)]
EVERY = [*FILTERED, Tags(measure="norm"), Dependencies(level="word"), DependencyLengths(), Exemplars(measure="norm")]
every = pytest.mark.parametrize("statistic", EVERY, ids=lambda statistic: statistic.table_name)


@every
@settings(max_examples=8)
@given(order=st.permutations(range(len(DOCUMENTS))))
def test_merging_in_any_order(statistic: Statistic, order: list[int]) -> None:
    parts = [counted(statistic, "llama", [document]) for document in DOCUMENTS]
    whole = counted(statistic, "llama", DOCUMENTS)
    merged = parts[order[0]]
    for index in order[1:]:
        merged.merge(parts[index])
    assert_same(merged, whole)


@every
@pytest.mark.parametrize("family", ["bert", "llama"])
@settings(max_examples=6)
@given(batch_size=st.integers(1, 4), rows=st.one_of(st.none(), st.integers(1, 7)), seed=st.integers(0, 99))
def test_batches_and_row_blocks_do_not_matter(
    statistic: Statistic, family: str, batch_size: int, rows: int | None, seed: int
) -> None:
    shuffled = list(DOCUMENTS)
    random.Random(seed).shuffle(shuffled)
    alone = counted(statistic, family, DOCUMENTS, batch_size=1)
    assert_same(counted(statistic, family, shuffled, batch_size, rows), alone)


# By hand: three tokens, the first of which is null

WEIGHTS = [[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.25, 0.5, 0.25]]


def block(document: Document | None = None):
    made = block_by_hand(WEIGHTS, ["a", "b", "c"], site=replace(_SITE, stack="decoder"))
    made.batch.documents = [document or Document(words=["a", "b", "c"], tags=["DET", "NOUN", "VERB"], parents=[1, 2, -1])]
    return made


_SITE = block_by_hand([[1.0]], ["a"]).site


def test_tags_by_hand() -> None:
    fresh = Tags(without_first=True).start([block().site])
    fresh.update(block())
    table = fresh.table().set_index("tag")
    # Without the first key 0.5 + 0.5 + 0.25 are left; b gets 1.0 and c 0.25; b gives 0.5 and c 0.75.
    assert table["to"].to_dict() == pytest.approx({"DET": 0, "NOUN": 0.8, "VERB": 0.2})
    assert table["from"].to_dict() == pytest.approx({"DET": 0, "NOUN": 0.4, "VERB": 0.6})
    assert table["corpus"].to_dict() == pytest.approx(dict.fromkeys(("DET", "NOUN", "VERB"), 1 / 3))


def test_dependencies_by_hand() -> None:
    # b is the parent of a, c of b. b -> a: the attending is the parent, but a is null; c -> b: likewise, 0.5.
    found = columns_by_hand(Dependencies(without_first=True), block())
    assert found["attending_is_parent"] == pytest.approx(0.5 / 1.25)
    assert found["attended_is_parent"] == 0
    assert found["either_baseline"] == pytest.approx(1 / 3)  # of b-b, c-b, c-c
    kept = columns_by_hand(Dependencies(), block())
    assert kept["either"] == pytest.approx((0.5 + 0.5) / 3)
    assert kept["either_baseline"] == pytest.approx(2 / 6)


def test_distance_and_entropy_without_the_first_token_by_hand() -> None:
    assert columns_by_hand(Distance(without_first=True), block())["distance"] == pytest.approx(0.5 / 1.25)
    third = -(2 / 3) * math.log(2 / 3) - (1 / 3) * math.log(1 / 3)  # the row renormalised
    # The first row gives all to the first token and does not count.
    assert columns_by_hand(Entropy(without_first=True), block())["entropy"] == pytest.approx((0 + third) / 2)


def test_over_90_percent_to_the_first_token_does_not_count() -> None:
    rows = [[1.0, 0.0, 0.0], [0.9, 0.1, 0.0], [0.92, 0.04, 0.04]]
    made = block_by_hand(rows, ["a", "b", "c"], site=replace(_SITE, stack="decoder"))
    assert columns_by_hand(Entropy(without_first=True), made)["entropy"] == pytest.approx(0.0, abs=1e-6)


def test_variability_by_hand() -> None:
    first = MeanMap(positions=3).start([_SITE])
    blocks = [block_by_hand([[1.0, 0.0], [share, 1 - share]], ["a", "b"]) for share in (1.0, 0.0)]
    for made in blocks:
        first.update(made)
    second = Variability.of(first).start([_SITE])
    for made in blocks:
        second.update(made)
    # The mean of the second row is (0.5, 0.5): each text deviates by 0.5 + 0.5; all attention is 4.
    assert second.table()["variability"].item() == pytest.approx(2 / (2 * 4))


def test_dependency_lengths_by_hand() -> None:
    fresh = DependencyLengths().start([block().site])
    fresh.update(block(Document(words=["a", "b", "c"], tags=["X"] * 3, parents=[2, 2, -1])))
    table = fresh.table().set_index("distance")
    assert table["probability"].iloc[:2].tolist() == [0.5, 1.0]
    assert table["mean_length"].iloc[0] == 1.5


def test_exemplars_by_hand() -> None:
    fresh = Exemplars(without_first=True, kept=2).start([block().site])
    fresh.update(block())
    (best,) = fresh.table().to_dict("records")
    assert (best["score"], best["row"], best["key"]) == (0.5, 2, 1)  # b -> b is its own
    fresh.update(block())
    assert len(fresh.table()) == 1  # the same text


def test_variability_needs_its_first_pass() -> None:
    with pytest.raises(headscope.HeadscopeError, match="two passes"):
        Variability().start([_SITE])


# Plain loops over full maps


def loops(lens: headscope.Lens, documents: list[Document], first: int) -> dict[str, np.ndarray | dict]:
    """Equations 3 to 7 as they stand, a pair at a time, for all heads at once: (layer, head) numbers."""
    to, origin, forms = defaultdict(float), defaultdict(float), defaultdict(float)
    total, spanned, entropy, rows = 0.0, 0.0, 0.0, 0.0
    maps = []
    for document in documents:
        reading = lens.read(document)
        alpha = reading.scores("weight").double().numpy()
        words = lens.encoder.encode(document).source.word_of
        n = alpha.shape[-1]
        causal = lens.sites[0].stack == "decoder"
        for i in range(n):
            whole, kept = alpha[:, :, i].sum(-1), alpha[:, :, i, first:].sum(-1)
            counted = np.ones_like(whole) if first == 0 else (whole - kept <= 0.9 * whole).astype(float)
            share = alpha[:, :, i, first:] / np.maximum(kept, 1e-30)[..., None]
            entropy = entropy + counted * -(share * np.log(np.maximum(share, 1e-300))).sum(-1)
            rows = rows + counted
            for j in range(first, i + 1 if causal else n):
                a, one, other = alpha[:, :, i, j], words[i], words[j]
                total = total + a
                spanned = spanned + a * abs(i - j)
                if other is not None:
                    to[document.tags[other]] = to[document.tags[other]] + a
                if one is not None:
                    origin[document.tags[one]] = origin[document.tags[one]] + a
                if one is not None and other is not None and one != other:
                    if document.parents[other] == one:
                        forms["attending_is_parent"] = forms["attending_is_parent"] + a
                    if document.parents[one] == other:
                        forms["attended_is_parent"] = forms["attended_is_parent"] + a
        maps.append(alpha)
    return {
        "to": {tag: amount / total for tag, amount in to.items()},
        "from": {tag: amount / total for tag, amount in origin.items()},
        "forms": {form: amount / total for form, amount in forms.items()},
        "distance": spanned / total,
        "entropy": entropy / rows,
        "variability": variability(maps, first),
    }


def variability(maps: list[np.ndarray], first: int, positions: int = 10) -> np.ndarray:
    corners = [alpha[:, :, :positions, first:positions] for alpha in maps]
    pairs: dict[tuple[int, int], list[np.ndarray]] = defaultdict(list)
    for corner in corners:
        for i in range(corner.shape[2]):
            for j in range(corner.shape[3]):
                pairs[i, j].append(corner[:, :, i, j])
    deviation = sum(np.abs(np.stack(found) - np.mean(found, 0)).sum(0) for found in pairs.values())
    return deviation / (2 * sum(np.stack(found).sum(0) for found in pairs.values()))


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.parametrize("first", [0, 1])
def test_against_loops_on_real_sentences(minilm: Path, first: int) -> None:
    path = DATA / "treebank" / "en_ewt-ud-dev.conllu"
    if not path.is_file():
        pytest.skip("../shared/data/treebank is not here")
    documents = [document for document in islice(Corpus.from_files(path), 200) if 3 < len(document.words) < 25][:50]
    with headscope.open(minilm) as lens:
        check_against_loops(lens, documents, bool(first), documents_at_least=50)


@pytest.mark.parametrize("without_first", [False, True])
def test_against_loops_on_a_causal_model(without_first: bool) -> None:
    check_against_loops(lens_for("llama"), DOCUMENTS, without_first, documents_at_least=4)


def check_against_loops(
    lens: headscope.Lens, documents: list[Document], without_first: bool, documents_at_least: int
) -> None:
    assert len(documents) >= documents_at_least
    slow = loops(lens, documents, int(without_first))
    settings = [cls(without_first=without_first) for cls in (Tags, Dependencies, Distance, Entropy, MeanMap, Exemplars)]
    made = [one.start(lens.sites) for one in settings]
    batches = [lens.encoder.batch(documents[start : start + 7]) for start in range(0, len(documents), 7)]
    for batch in batches:
        lens.run(batch, lambda block: [one.update(block) for one in made], rows=5)
    tags, dependencies, distance, entropy, mean, exemplars = made
    second = Variability.of(mean).start(lens.sites)
    for batch in batches:
        lens.run(batch, second.update)
    shape = slow["distance"].shape

    def column(one: Statistic, name: str) -> np.ndarray:
        return one.table()[name].to_numpy().reshape(shape)

    close = {"rtol": 2e-4, "atol": 1e-6}
    np.testing.assert_allclose(column(distance, "distance"), slow["distance"], **close)
    np.testing.assert_allclose(column(entropy, "entropy"), slow["entropy"], **close)
    np.testing.assert_allclose(column(second, "variability"), slow["variability"], **close)
    for form, expected in slow["forms"].items():
        np.testing.assert_allclose(column(dependencies, form), expected, **close)
    table = tags.table()
    assert set(table["tag"]) == set(slow["to"])
    for tag, of_tag in table.groupby("tag"):
        np.testing.assert_allclose(of_tag["to"].to_numpy().reshape(shape), slow["to"][tag], **close)
        np.testing.assert_allclose(of_tag["from"].to_numpy().reshape(shape), slow["from"][tag], **close)
    check_exemplars(lens, documents, exemplars)


def check_exemplars(lens: headscope.Lens, documents: list[Document], exemplars: Statistic) -> None:
    """The best text of each head, found by looking at every pair."""
    first = exemplars.first_key  # type: ignore[attr-defined]
    best = np.full([len(lens.sites), lens.sites[0].heads], -1.0)
    for document in documents:
        alpha = lens.read(document).scores("weight").numpy()
        special = np.array(lens.encoder.encode(document).source.special)
        allowed = ~special[:, None] & ~special[None] & ~np.eye(len(special), dtype=bool)
        allowed[:, :first] = False
        best = np.maximum(best, np.where(allowed, alpha, -1).max((-1, -2)))
    top = exemplars.table().query("rank == 1")
    np.testing.assert_allclose(top["score"].to_numpy().reshape(best.shape), best, rtol=1e-4, atol=1e-6)
    assert set(top["document"]) <= {document_number(document) for document in documents}


def test_the_same_tables_from_1_3_and_17_shards(tmp_path: Path) -> None:
    documents = [replace(document, name=str(n)) for n in range(5) for document in DOCUMENTS][:17]
    statistics = [Tags(without_first=True), Dependencies(without_first=True), DependencyLengths(), Distance(), Exemplars()]
    lens = lens_for("llama")
    runs = [
        headscope.study(lens, documents, statistics, out=tmp_path / str(size), shard_size=size, batch_size=1)
        for size in (17, 6, 1)
    ]
    assert [run.manifest["shards"] for run in runs] == [1, 3, 17]
    assert Counter(runs[0].tables) == Counter(one.table_name for one in statistics)
    for name in runs[0].tables:
        one = runs[0][name].filter(regex="^(?!.*_(low|high)$)")
        for other in runs[1:]:
            again = other[name][one.columns]
            for column in one:
                if one[column].dtype.kind == "f":
                    np.testing.assert_allclose(again[column], one[column], rtol=1e-12, equal_nan=True)
                else:
                    assert again[column].tolist() == one[column].tolist()
