"""Weights against effective attention and norms, by length: against loops over full tensors, and by hand."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from headscope.statistics import EffectiveByLength
from headscope.statistics.norms.effective_by_length import LONGEST, map_sums, pearson
from headscope.text import Document
from tests.statistics.norms import appendix_d
from tests.statistics.norms.by_loops import both, texts_by_loops
from tests.statistics.tester import assert_same, block_by_hand, counted, documents, lens_for


@both
def test_by_length_against_loops(family: str) -> None:
    table = counted(EffectiveByLength(every=1), family, documents(family), 3, rows=4).table().set_index("length")
    expected = appendix_d.by_length(texts_by_loops(family), causal=family == "llama")
    assert list(table.index) == sorted(expected)
    for length, row in expected.items():
        np.testing.assert_allclose([table.loc[length, name] for name in row], list(row.values()), atol=2e-5)
    assert min(row["effective_mean"] for row in expected.values()) < 0.999, "some text is longer than a head is wide"


def test_cross_attention_against_full_maps() -> None:
    """Lengths are the source's."""
    lens, chosen = lens_for("marian"), documents("marian")
    table = counted(EffectiveByLength(every=1), "marian", chosen, 3, rows=4).table()
    lengths = table.query("kind == 'cross'").set_index("length")
    with_norms: dict[int, list[float]] = {}
    for document in chosen:
        reading = lens.read(document)
        alpha, norm = (reading.scores(name, kind="cross").double().numpy() for name in ("weight", "norm"))
        maps = zip(alpha.reshape(-1, alpha[0, 0].size), norm.reshape(-1, alpha[0, 0].size), strict=True)
        with_norms.setdefault(len(reading.tokens), []).extend(np.corrcoef(*pair)[0, 1] for pair in maps)
    for length, correlations in with_norms.items():
        assert lengths.loc[length, "norm_mean"] == pytest.approx(np.mean(correlations), abs=1e-5)
        assert lengths.loc[length, "maps"] == len(correlations)


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
