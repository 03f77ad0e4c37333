"""What a head's card is drawn from: its mean map over the first positions and its profile of distances."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from headscope.lens import AttentionBlock
from headscope.statistics import BeyondSinks, DistanceProfile, MeanMap, PositionMap, Statistic, usual_statistics
from headscope.statistics.surface.distance_profile import FAR, UP_TO
from tests.statistics.tester import SITE, block_by_hand, counted, documents, lens_for

TOKENS, SPECIAL = ["[CLS]", "a", ".", "[SEP]"], [True, False, False, True]
WEIGHTS = [[1.0, 0.0, 0.0, 0.0], [0.5, 0.1, 0.2, 0.2], [0.25, 0.25, 0.25, 0.25], [0.0, 0.2, 0.3, 0.5]]


def by_hand(statistic: Statistic, *blocks: AttentionBlock) -> pd.DataFrame:
    fresh = statistic.start([blocks[0].site])
    for block in blocks:
        fresh.update(block)
    return fresh.table()


def test_a_profile_by_hand() -> None:
    """Of 1.3 beyond [CLS] and [SEP]: rows 1 to 3 give to `a` and the period alone."""
    table = by_hand(DistanceProfile(), block_by_hand(WEIGHTS, TOKENS, SPECIAL))
    shares = {row.nearest: row.share for row in table.itertuples() if row.share}
    assert shares == {
        -2: pytest.approx(0.2 / 1.3),
        -1: pytest.approx((0.25 + 0.3) / 1.3),
        0: pytest.approx((0.1 + 0.25) / 1.3),
        1: pytest.approx(0.2 / 1.3),
    }
    assert len(table) == 2 * FAR + 1
    assert table["share"].sum() == pytest.approx(1)


def test_far_places_share_a_bin() -> None:
    """The last of 140 tokens looks alike at all: bins behind the eighth place double, the last has all that is left."""
    length = 140
    rows = [[1.0, *[0.0] * (length - 1)]] * (length - 1) + [[1 / length] * length]
    block = block_by_hand(rows, [f"t{place}" for place in range(length)], site=replace(SITE, stack="decoder"))
    table = by_hand(DistanceProfile(), block)
    assert list(table["nearest"]) == [-129, -65, -33, -17, *range(-9, 1)]
    assert list(table["furthest"].dropna()) == [-128, -64, -32, -16, *range(-8, 1)]
    sizes = np.array([10, 64, 32, 16, 8, *[1] * 9])  # 139 keys beside the first: the furthest is 138 away
    np.testing.assert_allclose(table["share"], sizes / sizes.sum())


@pytest.mark.parametrize(("family", "measure"), [("bert", "weight"), ("llama", "weight"), ("bert", "norm")])
def test_a_profile_has_the_shares_of_beyond_sinks(family: str, measure: str) -> None:
    profile = counted(DistanceProfile(measure=measure), family, documents(family)).table()
    known = counted(BeyondSinks(measure=measure), family, documents(family)).table()
    for offset, column in {-2: "two_before", -1: "previous", 0: "same", 1: "next", 2: "two_after"}.items():
        there = profile[profile["nearest"] == offset]["share"]
        if len(there):
            np.testing.assert_allclose(there, known[column], atol=1e-6)
        else:
            assert (family, (known[column] == 0).all()) == ("llama", True)


def test_a_profile_against_loops_over_full_maps() -> None:
    lens = lens_for("bert")
    sums = np.zeros((12, 2 * FAR + 1))
    for document in documents("bert"):
        reading = lens.read(document)
        maps = reading.scores("weight").double().flatten(0, 1).numpy()
        for row in range(maps.shape[1]):
            for key in range(1, maps.shape[2] - 1):  # between [CLS] and [SEP]
                number = next(place for place, most in enumerate(UP_TO) if abs(key - row) <= most)
                sums[:, FAR + int(np.sign(key - row)) * number] += maps[:, row, key]
    table = counted(DistanceProfile(), "bert", documents("bert")).table()
    expected = sums / sums.sum(1, keepdims=True)
    np.testing.assert_allclose(table["share"].to_numpy().reshape(12, -1), expected, atol=1e-6)


def test_a_mean_map_by_hand() -> None:
    """Two texts; the second has no third token, so what concerns it is the first text's alone."""
    long = block_by_hand([[1.0, 0.0, 0.0], [0.6, 0.4, 0.0], [0.2, 0.3, 0.5]], ["a", "b", "c"])
    short = block_by_hand([[1.0, 0.0], [0.2, 0.8]], ["a", "b"])
    table = by_hand(PositionMap(positions=4), long, short)
    found = {(row.query, row.key): row.score for row in table.itertuples()}
    assert found == {
        (0, 0): 1, (0, 1): 0, (0, 2): 0,
        (1, 0): pytest.approx(0.4), (1, 1): pytest.approx(0.6), (1, 2): 0,
        (2, 0): pytest.approx(0.2), (2, 1): pytest.approx(0.3), (2, 2): 0.5,
    }  # fmt: skip
    weights = long.weights[0, 0].tolist()
    causal = by_hand(PositionMap(positions=4), block_by_hand(weights, ["a", "b", "c"], site=replace(SITE, stack="decoder")))
    assert set(zip(causal["query"], causal["key"], strict=True)) == {(0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2)}


@pytest.mark.parametrize("family", ["bert", "llama", "marian"])
def test_a_mean_map_is_that_of_variability(family: str) -> None:
    """The same sums as the first pass of vig2019's variability, as a table that people and pages can read."""
    first = counted(MeanMap(positions=4), family, documents(family))
    table = counted(PositionMap(positions=4), family, documents(family)).table()
    dense = np.zeros_like(first.mean())
    heads = first.heads.labels().reset_index().rename(columns={"index": "place"})
    found = table.merge(heads, on=["stack", "kind", "layer", "head"])
    dense[found["place"], found["query"], found["key"]] = found["score"]
    np.testing.assert_allclose(dense, first.mean(), atol=1e-7)


def test_studies_do_not_count_them_unless_a_report_is_asked_for() -> None:
    assert not {"position_map", "distance_profile"} & set(usual_statistics())
