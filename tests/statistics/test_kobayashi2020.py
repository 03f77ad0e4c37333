"""The statistics of kobayashi2020, section 4 and appendix G: loops over full maps, numbers worked out by hand, and laws."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr
from torch import nn

import headscope
from headscope.errors import InputError
from headscope.lens.block import AttentionBlock, KeySide
from headscope.lens.watching.projection import Projection
from headscope.measures.effective import column_basis
from headscope.measures.full_rank_basis import full_rank_basis
from headscope.statistics import CategoryWeights, Dispersion, EffectiveByLength, Frequency, FrequencyCurve, InputDispersion
from headscope.statistics.base import Statistic
from headscope.statistics.kit.categories import USUAL
from headscope.statistics.norms.category_weights import layer_means
from headscope.statistics.norms.effective_by_length import LONGEST, map_sums, pearson
from headscope.statistics.norms.frequencies import Frequencies
from headscope.statistics.norms.token_averages import Averages
from headscope.study.intervals import intervals
from headscope.text import Document
from tests.statistics.norms import appendix_d
from tests.statistics.tester import TEXTS, assert_same, block_by_hand, counted, documents, lens_for
from tests.textbook import textbook
from tests.tiny import tiny
from tests.tiny_tokenizers import tiny_tokenizer

MADE: dict[str, Callable[[str], Statistic]] = {
    "dispersion": lambda _: Dispersion(),
    "input_dispersion": lambda _: InputDispersion(),
    "category_weights": lambda _: CategoryWeights(),
    "joint": lambda _: CategoryWeights(measure="joint_norm"),
    "own_categories": lambda _: CategoryWeights(categories={"animals": "cat cats dog dogs", "short": "/../"}),
    "effective_by_length": lambda _: EffectiveByLength(every=1),
    "some_by_length": lambda _: EffectiveByLength(every=2),
    "frequency": lambda path: Frequency(path=path),
    "frequency_curve": lambda path: FrequencyCurve(path=path),
}
every = pytest.mark.parametrize("name", MADE)


@pytest.fixture(scope="session")
def frequency_file(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """The counts of the tests' own texts, one file a tokenizer; one piece in five is not in it."""
    folder = tmp_path_factory.mktemp("frequencies")

    @cache
    def written(family: str) -> str:
        tokenizer = tiny_tokenizer("wordpiece" if family == "bert" else "bpe")
        counts = {id: count for _, count, id in Frequencies.count(tokenizer, TEXTS) if id % 5 != 4}
        Frequencies(counts).write(folder / f"{family}.txt")
        return str(folder / f"{family}.txt")

    return written


@every
@settings(max_examples=4)
@given(order=st.permutations(range(len(TEXTS))))
def test_merging_in_any_order(name: str, order: list[int], frequency_file: Callable[[str], str]) -> None:
    statistic = MADE[name](frequency_file("bert"))
    parts = [counted(statistic, "bert", [document]) for document in documents("bert")]
    merged = statistic.start(lens_for("bert").sites)
    for index in order:
        merged.merge(parts[index])
    assert_same(merged, counted(statistic, "bert", documents("bert")))


@every
@pytest.mark.parametrize("family", ["bert", "llama", "marian"])
@settings(max_examples=3)
@given(batch_size=st.integers(1, 5), rows=st.one_of(st.none(), st.integers(1, 9)), seed=st.integers(0, 99))
def test_batches_padding_and_row_blocks_do_not_matter(
    name: str, family: str, batch_size: int, rows: int | None, seed: int, frequency_file: Callable[[str], str]
) -> None:
    statistic = MADE[name](frequency_file(family))
    shuffled = documents(family)
    random.Random(seed).shuffle(shuffled)
    alone = counted(statistic, family, documents(family), batch_size=1)
    assert_same(counted(statistic, family, shuffled, batch_size, rows), alone)


# Against loops over full tensors


@cache
def texts_by_loops(family: str) -> list[appendix_d.Text]:
    """The textbook's tensors of every text, from a model that no lens has."""
    lens, model, found = lens_for(family), tiny(family), []
    for document in documents(family):
        source = lens.encoder.encode(document).source
        if family == "bert":
            categories = [appendix_d.bert_category(token) for token in source.tokens]
        else:  # a decoder: the first token is `first`, and </s> ends the text
            rules = {".": "punctuation", ",": "punctuation", "</s>": "separator"}
            categories = ["first", *(rules.get(token.removeprefix("Ġ"), "other") for token in source.tokens[1:])]
        layers = textbook(family, model, torch.tensor(source.ids))
        found.append(appendix_d.Text(source.ids, categories, layers))
    return found


def by_head(table: pd.DataFrame, column: str) -> np.ndarray:
    return table[column].to_numpy(dtype=float)


def close(found: object, expected: object) -> None:
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=1e-7)


both = pytest.mark.parametrize("family", ["bert", "llama"])


@both
def test_dispersion_against_loops(family: str) -> None:
    table, texts = counted(Dispersion(), family, documents(family), 3, rows=4).table(), texts_by_loops(family)
    for row in table.to_dict("records"):
        expected = appendix_d.dispersion(texts, row["layer"], row["head"])
        close([row[name] for name in expected], list(expected.values()))


@both
def test_category_weights_against_loops(family: str) -> None:
    table, texts = counted(CategoryWeights(), family, documents(family), 3, rows=4).table(), texts_by_loops(family)
    assert {category for text in texts for category in text.categories} == set(USUAL)
    for row in table.to_dict("records"):
        expected = {name: appendix_d.heads_of(texts, name, row["layer"], row["head"]) for name in USUAL}
        whole = sum(expected[name]["norm"] for name in USUAL)
        for name in USUAL:
            close([row[f"{field}_{name}"] for field in expected[name]], list(expected[name].values()))
            close(row[f"share_norm_{name}"], expected[name]["norm"] / whole)
        assert row["texts"] == len(texts)
    close(sum(by_head(table, f"weight_{name}") for name in USUAL), 1)  # every row of weights sums to 1


@both
def test_joint_norms_by_category_against_loops(family: str) -> None:
    statistic = CategoryWeights(measure="joint_norm")
    table, texts = counted(statistic, family, documents(family), 3, rows=4).table(), texts_by_loops(family)
    assert statistic.table_name == "category_weights_joint_norm"
    assert table["head"].isna().all()
    assert not any(column.startswith(("weight", "value_norm")) for column in table)
    for layer, row in enumerate(table.to_dict("records")):
        expected = [appendix_d.joint_of(texts, name, layer) for name in USUAL]
        close([row[f"norm_{name}"] for name in USUAL], expected)
        close([row[f"share_norm_{name}"] for name in USUAL], np.array(expected) / sum(expected))


@both
def test_by_length_against_loops(family: str) -> None:
    table = counted(EffectiveByLength(every=1), family, documents(family), 3, rows=4).table().set_index("length")
    expected = appendix_d.by_length(texts_by_loops(family), causal=family == "llama")
    assert list(table.index) == sorted(expected)
    for length, row in expected.items():
        np.testing.assert_allclose([table.loc[length, name] for name in row], list(row.values()), atol=2e-5)
    assert min(row["effective_mean"] for row in expected.values()) < 0.999, "some text is longer than a head is wide"


@both
def test_frequency_curve_against_loops(family: str, frequency_file: Callable[[str], str]) -> None:
    path = frequency_file(family)
    table = counted(FrequencyCurve(path=path), family, documents(family), 3, rows=4).table()
    frequencies = Frequencies.read(path)
    found: dict[int, list[tuple[float, float, float]]] = {}
    for text in texts_by_loops(family):
        for id, weight, norm in zip(text.ids, *appendix_d.averages(text), strict=True):
            if (rank := frequencies.rank(id)) is not None:
                found.setdefault(rank, []).append((frequencies.of(id), weight, norm))
    assert sum(map(len, found.values())) < sum(len(text.ids) for text in texts_by_loops(family))  # some have no rank
    assert table["tokens"].sum() == sum(map(len, found.values()))
    for row in table.to_dict("records"):
        tokens = [token for rank in found if row["rank_low"] <= rank <= row["rank_high"] for token in found[rank]]
        count, weight, norm = np.mean(tokens, 0)
        close([row["tokens"], row["count_mean"], row["weight_mean"], row["norm_mean"]], [len(tokens), count, weight, norm])
        close([row["weight_deviation"], row["norm_deviation"]], np.std(tokens, 0)[1:])


@both
def test_frequency_against_loops(family: str, frequency_file: Callable[[str], str]) -> None:
    path = frequency_file(family)
    table = counted(Frequency(path=path), family, documents(family), 3, rows=4).table().set_index("which")
    frequencies = Frequencies.read(path)
    tokens = [
        (frequencies.rank(id), category, weight, norm)
        for text in texts_by_loops(family)
        for id, category, weight, norm in zip(text.ids, text.categories, *appendix_d.averages(text), strict=True)
    ]
    for which, chosen in (("all", tokens), ("without_special", [token for token in tokens if token[1] == "other"])):
        ranks, _, weights, norms = zip(*(token for token in chosen if token[0] is not None), strict=True)
        row = table.loc[which]
        assert row["spearman_rank_weight"] == pytest.approx(spearmanr(ranks, weights).statistic, abs=1e-9)
        # Norms of equal tokens are equal but for rounding, which may order them otherwise.
        assert row["spearman_rank_norm"] == pytest.approx(spearmanr(ranks, norms).statistic, abs=1e-4)
        assert (row["tokens"], row["unknown"]) == (len(ranks), len(chosen) - len(ranks))
    assert table["unknown"].max() > 0


def test_frequency_of_more_tokens_than_are_kept(tmp_path: Path) -> None:
    """With cells instead of pairs: near scipy's value, and the same from parts in any order."""
    rng = np.random.default_rng(0)
    Frequencies({id: 1 + 30_000_000 // (id + 1) for id in range(30_000)}).write(tmp_path / "zipf.txt")
    statistic = Frequency(path=str(tmp_path / "zipf.txt"))
    ids = np.minimum(rng.zipf(1.3, 60_000), 30_000).astype(np.int64) - 1
    norms = 1 + 0.1 * np.log1p(ids) + 0.3 * rng.random(len(ids))
    weights = rng.random(len(ids)) / 128
    parts = []
    for some in np.array_split(np.arange(len(ids)), 5):
        parts.append(statistic.start(lens_for("bert").sites))
        parts[-1].add_tokens(Averages(ids[some], weights[some], norms[some], ids[some] % 3 > 0))
    merged = [statistic.start(lens_for("bert").sites) for _ in range(2)]
    for one, order in zip(merged, ([0, 1, 2, 3, 4], [3, 0, 4, 2, 1]), strict=True):
        for place in order:
            one.merge(parts[place])
    assert all((merged[0].state[name] == array).all() for name, array in merged[1].state.items())
    table = merged[0].table().set_index("which")
    for which, chosen in (("all", ids >= 0), ("without_special", ids % 3 > 0)):
        for name, averages in (("weight", weights), ("norm", norms)):
            exact = spearmanr(ids[chosen], averages[chosen]).statistic
            assert table.loc[which, f"spearman_rank_{name}"] == pytest.approx(exact, abs=0.002)
            assert table.loc[which, f"bound_rank_{name}"] > 0


def test_cross_attention_against_full_maps() -> None:
    """Rows are the target's and keys the source's: means are over the former, categories and lengths of the latter."""
    lens, chosen = lens_for("marian"), documents("marian")
    weights = counted(CategoryWeights(), "marian", chosen, 3, rows=4).table().query("kind == 'cross'")
    lengths = (
        counted(EffectiveByLength(every=1), "marian", chosen, 3, rows=4).table().query("kind == 'cross'").set_index("length")
    )
    separator, with_norms = [], {}
    for document in chosen:
        reading = lens.read(document)
        alpha, norm = (reading.scores(name, kind="cross").double().numpy() for name in ("weight", "norm"))
        separator.append(alpha.mean(2)[..., [token == "</s>" for token in reading.tokens]].sum(-1))
        maps = zip(alpha.reshape(-1, alpha[0, 0].size), norm.reshape(-1, alpha[0, 0].size), strict=True)
        with_norms.setdefault(len(reading.tokens), []).extend(np.corrcoef(*pair)[0, 1] for pair in maps)
    close(by_head(weights, "weight_separator"), np.mean(separator, 0).ravel())
    for length, correlations in with_norms.items():
        assert lengths.loc[length, "norm_mean"] == pytest.approx(np.mean(correlations), abs=1e-5)
        assert lengths.loc[length, "maps"] == len(correlations)


# By hand


def block_with_norms(
    weights: list[list[float]], tokens: list[str], special: list[bool], norms: list[float]
) -> AttentionBlock:
    """One head of size 1 and W_O = 1: the values given are the norms."""
    block = block_by_hand(weights, tokens, special)
    site = replace(block.site, projection="W_O")
    linear = nn.Linear(1, 1, bias=False)
    nn.init.ones_(linear.weight)
    key_side = KeySide(site, torch.tensor(norms).view(1, 1, -1, 1), None, None, Projection(linear, 1, 1))
    return AttentionBlock(site, block.rows, block.weights, None, key_side, block.batch)


def table_of(statistic: Statistic, *blocks: AttentionBlock) -> dict[str, float]:
    fresh = statistic.start([blocks[0].site])
    for block in blocks:
        fresh.update(block)
    return fresh.table().iloc[0].to_dict()


ONE = ([[0.5, 0.0, 0.5], [0.25, 0.25, 0.5], [0.0, 1.0, 0.0]], ["[CLS]", "a", "[SEP]"], [True, False, True], [2.0, 1.0, 4.0])
OTHER = ([[0.5, 0.5], [0.0, 1.0]], ["[CLS]", "."], [True, False], [4.0, 1.0])


def test_category_weights_by_hand() -> None:
    found = table_of(CategoryWeights(), block_with_norms(*ONE), block_with_norms(*OTHER))
    # Weight([CLS]) is (0.5 + 0.25 + 0) / 3 = 1/4 in the first text, and in the second (0.5 + 0) / 2 = 1/4.
    assert found["weight_first"] == pytest.approx(1 / 4)
    assert found["weight_separator"] == pytest.approx((1 / 3 + 0) / 2)  # over both texts
    assert found["norm_first"] == pytest.approx((1 / 4 * 2 + 1 / 4 * 4) / 2)
    assert found["norm_separator"] == pytest.approx((1 / 3 * 4 + 0) / 2)
    assert found["value_norm_first"] == pytest.approx((2 + 4) / 2)
    assert found["value_norm_separator"] == pytest.approx(4)  # over the text that has one
    assert (found["texts"], found["texts_first"], found["texts_separator"]) == (2, 2, 1)
    assert found["share_norm_first"] == pytest.approx(0.75 / (0.75 + 2 / 3 + (5 / 12) / 2 + (3 / 4) / 2))


def test_a_category_that_no_text_has() -> None:
    found = table_of(CategoryWeights(categories={"none": "xyz"}), block_with_norms(*OTHER))
    assert found["weight_none"] == found["norm_none"] == found["texts_none"] == 0
    assert np.isnan(found["value_norm_none"])


def test_dispersion_by_hand() -> None:
    found = table_of(Dispersion(), block_with_norms(*ONE), block_with_norms(*OTHER))
    mean, deviation = 2.4, np.sqrt(((2 - 2.4) ** 2 + 2 * (1 - 2.4) ** 2 + 2 * (4 - 2.4) ** 2) / 5)
    assert [found[name] for name in ("mean", "deviation", "cv")] == pytest.approx([mean, deviation, deviation / mean])
    assert [found[name] for name in ("largest", "smallest", "vectors")] == [4, 1, 5]


def test_input_dispersion_by_hand_leaves_padding_out() -> None:
    block = block_by_hand([[0.5, 0.5, 0.0]] * 2, ["a", "b", "c"])
    block.key_side.mask = torch.tensor([[True, True, False]])
    block.key_side.inputs = torch.tensor([[[3.0, 4.0], [0.0, 1.0], [100.0, 0.0]]])  # type: ignore[attr-defined]
    found = table_of(InputDispersion(), block)
    assert [found[name] for name in ("mean", "deviation", "largest", "smallest", "vectors")] == [3, 2, 5, 1, 2]
    assert pd.isna(found["head"])


def test_input_dispersion_has_one_row_a_layer() -> None:
    table = InputDispersion().start(lens_for("bert").sites).table()
    assert table["layer"].tolist() == [0, 1, 2]
    assert table["head"].isna().all()


def test_pearson_by_hand() -> None:
    def r(x: list[float], y: list[float]) -> float:
        a, b = torch.tensor(x).double(), torch.tensor(y).double()
        return pearson(torch.tensor(len(x)).double(), torch.stack([a.sum(), b.sum(), a @ a, b @ b, a @ b])).item()

    assert r([1, 2, 3, 4], [2, 1, 4, 3]) == pytest.approx(0.6)
    assert r([1, 2, 3, 4], [-2, -5, -8, -11]) == pytest.approx(-1)
    assert np.isnan(r([1, 2, 3, 4], [0.1] * 4))


@pytest.mark.parametrize("diagonal", [None, 0, 3])
def test_sums_of_maps_are_those_of_the_maps_spelled_out(diagonal: int | None) -> None:
    torch.manual_seed(0)
    weights = torch.rand(2, 3, 4, 7).double()
    if diagonal is not None:
        weights = weights.tril(diagonal)
    norms, basis = torch.rand(2, 3, 7).double(), torch.linalg.qr(torch.randn(2, 3, 7, 2).double()).Q
    effective = weights @ (basis @ basis.mT)
    if diagonal is not None:
        effective = effective.tril(diagonal)
    found = map_sums(weights, norms, basis, diagonal)
    for sums, y in zip(found, (effective, weights * norms[:, :, None]), strict=True):
        expected = [(part).sum((-2, -1)) for part in (weights, y, weights**2, y**2, weights * y)]
        torch.testing.assert_close(sums, torch.stack(expected))


def test_a_basis_by_cholesky_spans_what_the_svd_s_does() -> None:
    torch.manual_seed(0)
    plenty, few = torch.randn(5, 40, 6), torch.randn(2, 4, 6)
    plenty[1, :, 3] = plenty[1, :, 0]  # lacks a dimension
    plenty[2, :, 4] = 0
    plenty[3] = 0  # nothing at all
    plenty[4] *= torch.logspace(0, -4, 6)  # badly conditioned, but of full rank
    for transformed in (plenty, few):
        expected, found = column_basis(transformed).double(), full_rank_basis(transformed)
        torch.testing.assert_close(found @ found.mT, expected @ expected.mT, rtol=0, atol=2e-6)
    assert full_rank_basis(plenty).square().sum((1, 2)).round().tolist() == [6, 5, 5, 0, 6]


def test_layer_means_by_hand() -> None:
    table = pd.DataFrame(
        {
            "stack": ["encoder"] * 3,
            "kind": ["self"] * 3,
            "layer": [0, 0, 1],
            "head": [0, 1, 0],
            "weight_first": [0.5, 0.25, 1.0],
            "norm_first": [1.0, 3.0, 1.0],
            "norm_other": [1.0, 1.0, 3.0],
            "share_norm_first": [0.5, 0.75, 0.25],
            "share_norm_other": [0.5, 0.25, 0.75],
            "weight_first_low": [0.0] * 3,
        }
    )
    found = layer_means(table)
    assert found["layer"].tolist() == [0, 1]
    assert found["weight_first"].tolist() == [0.375, 1.0]
    assert found["norm_first"].tolist() == [2.0, 1.0]
    assert found["share_norm_first"].tolist() == pytest.approx([2 / 3, 1 / 4])  # of the means, not the mean of shares
    assert not {"head", "weight_first_low"} & set(found)


def test_a_category_may_be_called_low() -> None:
    table = counted(CategoryWeights(categories={"low": "cat", "high": "dog"}), "bert", documents("bert")).table()
    assert {"weight_low", "norm_high", "share_norm_low"} <= set(layer_means(table))


def test_layer_means_of_a_model() -> None:
    table = counted(CategoryWeights(), "bert", documents("bert")).table()
    found = layer_means(table)
    assert len(found) == 3
    close(found["norm_other"][1], by_head(table.query("layer == 1"), "norm_other").mean())


# What cannot be had, and what is wrong


@every
def test_a_site_without_norms_is_not_a_number(name: str, frequency_file: Callable[[str], str]) -> None:
    block = block_by_hand([[0.5, 0.5], [0.25, 0.75]], ["a", "b"])  # no W_O
    fresh = MADE[name](frequency_file("bert")).start([block.site])
    fresh.update(block)
    table = fresh.table()
    of_norms = [
        column
        for column in table
        if (column.startswith(("norm", "value_norm", "share", "effective", "spearman_rank_norm")) or "dispersion" in name)
        and column not in ("stack", "kind", "layer", "head", "vectors")
    ]
    assert table[of_norms].isna().all(axis=None)
    if "weight_other" in table:
        assert table["weight_other"].item() == 1
    if name == "frequency_curve":
        assert table["weight_mean"].notna().all()


@pytest.mark.parametrize("cls", [Dispersion, InputDispersion, EffectiveByLength])
def test_a_measure_that_makes_no_sense_is_said(cls: type[Statistic]) -> None:
    with pytest.raises(InputError, match="takes no measure 'norm': leave it away"):
        cls(measure="norm")


def test_frequencies_need_a_file_that_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "counts.txt"
    path.write_text("1 10 5\n")
    with pytest.raises(InputError, match="needs a frequency file"):
        FrequencyCurve()
    with pytest.raises(InputError, match="There is no frequency file"):
        FrequencyCurve(path=str(tmp_path / "none.txt"))
    begun = FrequencyCurve(path=str(path))
    path.write_text("1 20 5\n")
    with pytest.raises(InputError, match="has changed"):
        begun.start(lens_for("bert").sites)
    assert FrequencyCurve(path=str(path)).frequencies.of(5) == 20


def test_by_length_measures_some_of_the_texts_whatever_their_order() -> None:
    chosen = [Document(f"the cat {'sat ' * number}") for number in range(40)]
    some = counted(EffectiveByLength(every=4), "bert", chosen, batch_size=7)
    again = counted(EffectiveByLength(every=4), "bert", chosen[::-1], batch_size=3)
    assert_same(some, again)
    assert 0 < len(some.table()) < 20
    assert len(counted(EffectiveByLength(every=1), "bert", chosen, batch_size=7).table()) == 40


def test_texts_that_are_longer_than_the_longest_share_a_row() -> None:
    fresh = EffectiveByLength().start(lens_for("bert").sites)
    correlations = torch.tensor([[[0.5], [1.0]], [[0.5], [0.0]]])
    block = block_by_hand([[1.0]], ["a"], site=lens_for("bert").sites[0])
    fresh._add(block, torch.tensor([LONGEST + 5, LONGEST]), correlations)
    (row,) = fresh.table().to_dict("records")
    assert (row["length"], row["maps"], row["effective_mean"], row["norm_mean"]) == (LONGEST, 2, 0.75, 0.25)


def test_intervals_of_dispersion_do_not_see_the_extremes() -> None:
    parts = [counted(Dispersion(), "bert", [document]) for document in documents("bert")]
    whole = Dispersion().start(lens_for("bert").sites)
    for part in parts:
        whole.merge(part)
    found = intervals(whole, [part.state for part in parts])
    assert set(found) == {"mean", "deviation", "cv"}
    for name, (low, high) in found.items():
        assert (low <= whole.table()[name]).all()
        assert (high >= whole.table()[name]).all()


def test_one_run_has_all_of_them(tmp_path: Path, frequency_file: Callable[[str], str]) -> None:
    statistics = [
        made(frequency_file("bert")) for name, made in MADE.items() if name not in ("own_categories", "some_by_length")
    ]
    runs = [
        headscope.study(lens_for("bert"), documents("bert"), statistics, out=tmp_path / str(size), shard_size=size)
        for size in (1, 5)
    ]
    for name in (statistic.table_name for statistic in statistics):
        one, other = (run[name].filter(regex="^(?!.*_(low|high)$)") for run in runs)
        pd.testing.assert_frame_equal(one, other, rtol=1e-4, atol=1e-6)
    resumed = headscope.study(lens_for("bert"), documents("bert"), statistics, out=tmp_path / "1", shard_size=1)
    assert resumed.manifest["settings"]["statistics"]["frequency_curve"]["sha256"]
