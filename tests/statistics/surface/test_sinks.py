"""What is left of a head's attention when the parked part is gone: on numbers by hand, and against loops over full maps."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from headscope.statistics import BeyondSinks, usual_statistics
from tests.statistics.tester import SITE, block_by_hand, columns_by_hand, counted, documents, lens_for

TOKENS, SPECIAL = ["[CLS]", "a", ".", "[SEP]"], [True, False, False, True]
WEIGHTS = [[1.0, 0.0, 0.0, 0.0], [0.5, 0.1, 0.2, 0.2], [0.25, 0.25, 0.25, 0.25], [0.0, 0.2, 0.3, 0.5]]


def test_shares_by_hand() -> None:
    found = columns_by_hand(BeyondSinks(), block_by_hand(WEIGHTS, TOKENS, SPECIAL))
    rest = 0.3 + 0.5 + 0.5
    assert found["first"] == pytest.approx(1.75 / 4)
    assert found["separator"] == pytest.approx(0.95 / 4)
    assert found["rest"] == pytest.approx(rest / 4)
    assert found["same"] == pytest.approx((0.1 + 0.25) / rest), "the first and last row's own tokens are parked ones"
    assert found["previous"] == pytest.approx((0.25 + 0.3) / rest)
    assert found["next"] == pytest.approx(0.2 / rest)
    assert found["two_before"] == pytest.approx(0.2 / rest)
    assert found["two_after"] == 0
    assert found["one_token"] == pytest.approx((0.2 + 0.25 + 0.3) / rest), "the period gets more than the letter"
    assert found["punctuation"] == pytest.approx((0.2 + 0.25 + 0.3) / rest)


def test_breadth_by_hand() -> None:
    """Each row's entropy counts by what the row leaves: 0.3 of (1/3, 2/3), 0.5 of (1/2, 1/2), 0.5 of (2/5, 3/5)."""

    def entropy(*shares: float) -> float:
        return -sum(share * math.log(share) for share in shares)

    found = columns_by_hand(BeyondSinks(), block_by_hand(WEIGHTS, TOKENS, SPECIAL))
    expected = 0.3 * entropy(1 / 3, 2 / 3) + 0.5 * entropy(1 / 2, 1 / 2) + 0.5 * entropy(2 / 5, 3 / 5)
    assert found["breadth"] == pytest.approx(expected / (1.3 * math.log(2)))


def test_a_decoder_parks_on_its_first_token_whatever_it_is() -> None:
    weights = [[1.0, 0.0, 0.0], [0.8, 0.2, 0.0], [0.6, 0.2, 0.2]]
    found = columns_by_hand(BeyondSinks(), block_by_hand(weights, ["a", "b", "c"], site=replace(SITE, stack="decoder")))
    assert found["first"] == pytest.approx(2.4 / 3)
    assert found["previous"] == pytest.approx(0.2 / 0.6)
    # The second row sees one token beside the first, and has no choice; the third sees two, and looks at both alike.
    assert found["breadth"] == pytest.approx(1)
    encoder = columns_by_hand(BeyondSinks(), block_by_hand(weights, ["a", "b", "c"]))
    assert encoder["first"] == 0, "an encoder's first token is parked on only if it is special"


def test_a_head_that_parks_everything_has_no_rest_to_share() -> None:
    found = columns_by_hand(BeyondSinks(), block_by_hand([[1.0, 0.0, 0.0]] * 3, ["[CLS]", "a", "b"], [True, False, False]))
    assert (found["first"], found["rest"]) == (1, 0)
    assert all(math.isnan(found[name]) for name in ("same", "previous", "breadth"))


@pytest.mark.parametrize("measure", ["weight", "norm"])
def test_against_loops_over_full_maps(measure: str) -> None:
    lens = lens_for("bert")
    sums = {name: np.zeros(12) for name in ("total", "first", "separator", "previous")}
    for document in documents("bert"):
        reading = lens.read(document)
        maps = reading.scores(measure).double().flatten(0, 1).numpy()  # head row key
        length = maps.shape[-1]
        for row in range(length):
            sums["total"] += maps[:, row].sum(-1)
            sums["first"] += maps[:, row, 0]
            sums["separator"] += maps[:, row, length - 1]
            if row >= 2:  # the second row's previous token is [CLS]
                sums["previous"] += maps[:, row, row - 1]
    table = counted(BeyondSinks(measure=measure), "bert", documents("bert")).table()
    rest = sums["total"] - sums["first"] - sums["separator"]
    np.testing.assert_allclose(table["first"], sums["first"] / sums["total"], rtol=1e-4)
    np.testing.assert_allclose(table["separator"], sums["separator"] / sums["total"], rtol=1e-4)
    np.testing.assert_allclose(table["previous"], sums["previous"] / rest, rtol=1e-4)


def test_a_study_counts_it_when_nothing_is_named() -> None:
    assert "beyond_sinks" in usual_statistics()
