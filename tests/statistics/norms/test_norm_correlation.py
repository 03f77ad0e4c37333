"""Weight against norm by category: loops over full maps, three tokens by hand, cells instead of pairs, and the sample."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare, kstest, spearmanr

from headscope.errors import InputError
from headscope.lens.block import AttentionBlock
from headscope.statistics import NormCorrelation, NormScatter
from headscope.statistics.kit import rank_sketch
from headscope.statistics.kit.categories import USUAL
from headscope.statistics.kit.pair_sample import VISITS, seeds_of, smallest, visits
from headscope.statistics.norms import norm_correlation
from headscope.text import Document
from tests.statistics.tester import SITE, block_by_hand, counted, lens_for

# None starts like another: a decoder's first keys would be equal then, but for rounding, which decides on their ranks.
TEXTS = ["the unbelievable cats sat on the mat .", "a dog , two dogs", "sat on", "one cat", "unbelievable , unbelievable ."]
FAMILIES = ["bert", "llama", "marian"]
KINDS = {"bert": [("encoder", "self")], "llama": [("decoder", "self")]}
KINDS["marian"] = [("encoder", "self"), ("decoder", "self"), ("decoder", "cross")]
Group = tuple[str, str, str]


def documents(family: str) -> list[Document]:
    return [Document(text, target=text[::-1] if family == "marian" else None) for text in TEXTS]


def few(patch: pytest.MonkeyPatch, limit: int) -> None:
    """Keep no more pairs than `limit`."""
    patch.setattr(rank_sketch, "LIMIT", limit)
    patch.setattr(norm_correlation, "LIMIT", limit)


def category(token: str, special: bool, position: int, starts: bool, stack: str, kind: str) -> str:
    """As token_categories says."""
    if special:
        return "first" if position == 0 and starts else "separator"
    if position == 0 and (stack, kind) == ("decoder", "self"):
        return "first"
    return "punctuation" if token.lstrip("Ġ▁").removeprefix("##") in (".", ",") else "other"


def pairs_by_loops(family: str, chosen: list[Document]) -> tuple[dict[Group, list], dict[Group, list]]:
    """Every (layer, head, weight, norm) that a query can see, by stack, kind and category; and every token's mean weight."""
    lens = lens_for(family)
    pairs, tokens = defaultdict(list), defaultdict(list)
    for document in chosen:
        batch, reading = lens.encoder.batch([document]), lens.read(document)
        for stack, kind in KINDS[family]:
            alpha = reading.scores("weight", kind=kind, stack=stack).numpy()
            norms = reading.scores("value_norm", kind=kind, stack=stack).numpy()
            site = next(site for site in lens.sites if (site.stack, site.kind) == (stack, kind))
            (keys,) = batch.key_sequences(site)
            layers, heads, n, m = alpha.shape
            for layer, head, j in np.ndindex(layers, heads, m):
                group = category(keys.tokens[j], keys.special[j], j, keys.special[0], stack, kind)
                causal = (stack, kind) == ("decoder", "self")
                for i in range(j if causal else 0, n):
                    pairs[stack, kind, group].append((layer, head, alpha[layer, head, i, j], norms[layer, head, j]))
                mean = alpha[layer, head, :, j].sum() / n
                tokens[stack, kind, group].append((mean, norms[layer, head, j]))
    return pairs, tokens


def as_if_exact(array: np.ndarray) -> np.ndarray:
    """Five digits, so that what differs by rounding alone is the same."""
    return np.vectorize(lambda value: float(f"{value:.5g}"))(array)


@pytest.mark.parametrize("limit", [20_000, 60])
@pytest.mark.parametrize("family", FAMILIES)
def test_against_loops_over_full_maps(family: str, limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    few(monkeypatch, limit)
    pairs, tokens = pairs_by_loops(family, documents(family))
    table = counted(NormCorrelation(), family, documents(family), batch_size=3, rows=4).table()
    rows = table.set_index(["stack", "kind", "category"])
    assert set(rows.index) == {(*kind, name) for kind in KINDS[family] for name in USUAL}
    assert len(pairs) > len(KINDS[family])
    for group, row in rows.iterrows():
        for found, rho, bound, count in (
            (pairs.get(group, []), "rho", "bound", "pairs"),
            (tokens.get(group, []), "rho_tokens", "bound_tokens", "tokens"),
            ([(mean, mean * norm) for mean, norm in tokens.get(group, [])], "rho_weighted", "bound_weighted", "tokens"),
        ):
            assert row[count] == len(found)
            if len(found) < 3:
                continue
            array = np.array(found)
            # [CLS] has one norm in the first layer, but for rounding: whether that tells texts apart is the processor's.
            apart, alike = (spearmanr(one[:, -2], one[:, -1]).statistic for one in (array, as_if_exact(array)))
            assert (row[bound] == 0) == (len(found) <= limit)
            near = pytest.approx(apart, abs=row[bound] + 2e-3), pytest.approx(alike, abs=row[bound] + 2e-3)
            assert row[rho] in near  # rounding moves ranks
    assert (table["bound"] > 0).any() == (limit == 60)


# By hand: three tokens, norms 1, 2, 3


def by_hand(weights: list[list[float]], stack: str) -> AttentionBlock:
    return block_by_hand(weights, ["a", "b", "c"], site=replace(SITE, stack=stack, projection="o"), norms=[1.0, 2.0, 3.0])


CAUSAL = [[1.0, 0.0, 0.0], [0.4, 0.6, 0.0], [0.3, 0.2, 0.5]]


@pytest.mark.parametrize("limit", [20_000, 1])
def test_by_hand_on_a_decoder(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    few(monkeypatch, limit)
    fresh = NormCorrelation().start([replace(SITE, stack="decoder", projection="o")])
    fresh.update(by_hand(CAUSAL, "decoder"))
    other = fresh.table().set_index("category").loc["other"]
    # Pairs (0.6, 2), (0.2, 2), (0.5, 3): ranks 3 1 2 and 1.5 1.5 3. The zeros above the diagonal are none.
    assert other["pairs"] == 3
    assert other["rho"] == pytest.approx(0.0, abs=1e-9)
    # Means (0.8 / 3, 2) and (0.5 / 3, 3); weighted norms 1.6 / 3 and 1.5 / 3, in the order of the weights.
    assert (other["tokens"], other["rho_tokens"]) == (2, pytest.approx(-1))
    assert other["rho_weighted"] == pytest.approx(1)


def test_a_zero_that_a_query_could_see_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    for limit in (20_000, 1):
        few(monkeypatch, limit)
        fresh = NormCorrelation().start([replace(SITE, projection="o")])
        fresh.update(by_hand(CAUSAL, "encoder"))
        other = fresh.table().set_index("category").loc["other"]
        assert other["pairs"] == 9
        exact = spearmanr([1, 0.4, 0.3, 0, 0.6, 0.2, 0, 0, 0.5], [1, 1, 1, 2, 2, 2, 3, 3, 3]).statistic
        assert other["rho"] == pytest.approx(exact)  # every value has a bin of its own


def test_a_decoder_that_looks_ahead_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    few(monkeypatch, 1)
    fresh = NormCorrelation().start([replace(SITE, stack="decoder", projection="o")])
    fresh.update(by_hand([[0.5, 0.3, 0.2]] * 3, "decoder"))
    with pytest.raises(InputError, match="not causal"):
        fresh.table()


def test_sites_without_norms_are_left_out() -> None:
    for statistic in (NormCorrelation(), NormScatter()):
        fresh = statistic.start([SITE])
        fresh.update(block_by_hand(CAUSAL, ["a", "b", "c"]))
        assert len(fresh.table()) == 0


def test_a_user_s_category() -> None:
    fresh = counted(NormCorrelation(categories={"cats": "/cats?/"}), "bert", documents("bert"))
    usual = counted(NormCorrelation(), "bert", documents("bert"))
    mine, theirs = (one.table().set_index("category")["pairs"] for one in (fresh, usual))
    assert mine["cats"] > 0
    assert mine["cats"] + mine["other"] == theirs["other"]
    assert mine["separator"] == theirs["separator"]


def test_only_weights_and_tokens() -> None:
    with pytest.raises(InputError, match="takes no measure 'norm'"):
        NormCorrelation(measure="norm")
    with pytest.raises(InputError, match="not in words"):
        NormCorrelation(level="word")
    with pytest.raises(InputError, match="size=1 or more"):
        NormScatter(size=0)
    with pytest.raises(InputError, match="cannot be merged"):
        NormScatter(seed=1).start([SITE]).merge(NormScatter(seed=2).start([SITE]))


# Cells instead of pairs


@settings(max_examples=8)
@given(order=st.permutations(range(5)))
def test_cells_are_merged_in_any_order(order: list[int]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        few(patch, 100)
        parts = [counted(NormCorrelation(), "llama", [document]) for document in documents("llama")]
        whole = counted(NormCorrelation(), "llama", documents("llama"), batch_size=1)
        merged = NormCorrelation().start(lens_for("llama").sites)
        for index in order:
            merged.merge(parts[index])
        assert merged.state.keys() == whole.state.keys()
        for name, array in whole.state.items():
            np.testing.assert_array_equal(merged.state[name], array, err_msg=name)


# The sample


@pytest.mark.parametrize("family", FAMILIES)
def test_the_sample_s_pairs_are_there(family: str) -> None:
    pairs, _ = pairs_by_loops(family, documents(family))
    table = counted(NormScatter(size=50), family, documents(family), batch_size=3, rows=5).table()
    assert list(table.columns) == ["stack", "kind", "category", "layer", "head", "weight", "norm"]
    for group, rows in table.groupby(["stack", "kind", "category"]):
        there = np.array(pairs[group])
        assert len(rows) == min(50, len(there)) or len(there) < 500
        for row in rows[["layer", "head", "weight", "norm"]].to_numpy(dtype=float):
            assert np.isclose(there, row, rtol=1e-3, atol=1e-5).all(1).any()
    assert set(table.groupby(["stack", "kind", "category"]).groups) == set(pairs)


def test_another_seed_is_another_sample() -> None:
    one, other = (counted(NormScatter(size=50, seed=seed), "bert", documents("bert")).table() for seed in (0, 1))
    assert one["weight"].tolist() != other["weight"].tolist()


def test_visits_are_a_uniform_sample_of_pairs() -> None:
    """Texts of 10, 300 and 1,000 pairs: of the smallest priorities, each pair has its share."""
    pairs = np.tile([10, 300, 1000], 2000)
    times, chosen = visits(seeds_of(np.arange(len(pairs))), pairs)
    assert times.shape == chosen.shape == (6000, VISITS)
    assert (chosen < pairs[:, None]).all()
    group, visit = np.nonzero(times < 0.01)  # a hundredth of all pairs has so small a priority
    met = np.bincount(group % 3)
    assert chisquare(met, met.sum() * np.array([10, 300, 1000]) / 1310).pvalue > 0.01
    large = chosen[group, visit][group % 3 == 2]
    assert kstest(large / 1000, "uniform").pvalue > 0.01
    # A pair's own time is exponential with mean 1: all ten pairs of the small texts are met, before VISITS run out.
    small = np.isfinite(times[::3])
    assert (small.sum(1) > 7).all()
    firsts = np.sort(times[::3], axis=1)[:, 0]
    assert kstest(firsts * 10, "expon").pvalue > 0.01


def test_a_pair_is_visited_once() -> None:
    times, chosen = visits(seeds_of(np.arange(50)), np.full(50, 30))
    for group in range(50):
        first = chosen[group][np.isfinite(times[group])]
        assert len(set(first)) == len(first) == len(set(chosen[group]))
    assert np.isinf(visits(seeds_of(np.arange(2)), np.array([0, 0]))[0]).all()


@given(st.permutations(range(12)), st.integers(1, 12))
def test_the_smallest_of_the_smallest(order: list[int], size: int) -> None:
    rows = np.array([[number // 2, number] for number in range(12)], dtype=float)  # ties are told apart by the rest
    shuffled = rows[order]
    halves = smallest(np.concatenate([smallest(shuffled[:5], size), smallest(shuffled[5:], size)]), size)
    np.testing.assert_array_equal(halves, rows[:size])
