"""What statistics of norms do where there are none, and what they take no measure for."""

from __future__ import annotations

import pytest

from headscope.errors import InputError
from headscope.statistics import Dispersion, EffectiveByLength, InputDispersion
from headscope.statistics.base import Statistic
from tests.statistics.examples import EXAMPLES
from tests.statistics.tester import block_by_hand

NORMS = [
    (name, place)
    for name in ("dispersion", "input_dispersion", "category_weights", "effective_by_length")
    for place in (0, -1)
]
NORMS += [("frequency", 0), ("frequency_curve", 0)]


@pytest.mark.parametrize(("name", "place"), NORMS)
def test_a_site_without_norms_is_not_a_number(name: str, place: int) -> None:
    block = block_by_hand([[0.5, 0.5], [0.25, 0.75]], ["a", "b"])  # no W_O
    fresh = EXAMPLES[name][place].make("bert").start([block.site])
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
