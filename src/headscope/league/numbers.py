"""The numbers that are in the league: one for each head, from what studies count, from backward passes, from weights.

`joint_norm` and `block_norm` have one number for all heads of a layer, and cannot rank heads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Literal, NamedTuple

import numpy as np

from headscope.errors import ModelError
from headscope.later import pd
from headscope.lens.head import HEAD, Head
from headscope.lens.lens import Lens
from headscope.lens.measure import can_have
from headscope.lens.task import task_of
from headscope.statistics import BeyondSinks, Dispersion, Entropy, FirstToken, Maximum, OutputNorm, Strength
from headscope.statistics.base import Array, Statistic, Sums, ratio
from headscope.study.singular_values import condition_numbers, singular_values
from headscope.writing.copying import copying_scores


class Number(NamedTuple):
    """What a number is, and at which end of it heads should be idle, as those say who proposed it."""

    title: str
    idle: Literal["low", "high"] = "low"


NUMBERS = {
    "entropy": Number("entropy of a row's weights", "high"),
    "first_token": Number("share of the weights on the first token", "high"),
    "maximum": Number("largest weight of a row"),
    "value_norm": Number("‖f(x)‖, length of what a token offers"),
    "collected": Number("Σ ‖α f(x)‖, length of what is collected"),
    "collected_beyond_sinks": Number("Σ ‖α f(x)‖ beyond sinks"),
    "collected_in_layer": Number("Σ ‖α f(x)‖ over the mean of its layer"),
    "read": Number("‖z‖, length of the output before W_O"),
    "output": Number("‖y‖, length of the output behind W_O"),
    "output_in_layer": Number("‖y‖ over the mean of its layer"),
    "relative": Number("‖y‖ / ‖r‖, against the residual stream"),
    "centred": Number("‖y − mean‖"),
    "centred_relative": Number("‖y − mean‖ / ‖r‖"),
    "projection": Number("part along the output of its layer"),
    "gradient": Number("gradient × change of the output"),
    "gradient_size": Number("|gradient × change of the output|"),
    "second_order": Number("second-order estimate of KL"),
    "stretch": Number("largest singular value of f"),
    "copying": Number("copying score"),
}
BY_WAY = ("gradient", "gradient_size", "second_order")  # of what takes the head's place
_PROJECTION = Strength(measure="projection")
_COLLECTED, _BEYOND = Strength(measure="norm"), BeyondSinks(measure="norm")


def statistics_for(lens: Lens) -> list[Statistic]:
    """What a study counts for the league; by weight alone, where some attention has no norms."""
    by_weight: list[Statistic] = [Entropy(), FirstToken(), Maximum()]
    if not all(can_have(site, "norm") for site in lens.sites):
        return by_weight
    return [*by_weight, Dispersion(), _COLLECTED, _BEYOND, _PROJECTION, OutputNorm()]


def numbers_of(statistics: Sequence[Statistic], sums: Mapping[str, Sums], sites: Sequence[int]) -> dict[str, Array]:
    """(..., head) each, from the sums of each statistic by its table's name; `sites` has the attention of every head."""
    found = {one.table_name: one.columns(sums[one.table_name]) for one in statistics}
    numbers = {name: found[name][name] for name in ("entropy", "first_token", "maximum")}
    if OutputNorm().table_name not in found:
        return numbers
    collected = found[_COLLECTED.table_name]["strength"]
    output = found[OutputNorm().table_name]
    return numbers | {
        "value_norm": found["dispersion"]["mean"],
        "collected": collected,
        "collected_beyond_sinks": collected * found[_BEYOND.table_name]["rest"],
        "collected_in_layer": against_layer(collected, sites),
        **output,
        "output_in_layer": against_layer(output["output"], sites),
        "projection": found[_PROJECTION.table_name]["strength"],
    }


def against_layer(values: Array, sites: Sequence[int]) -> Array:
    """(..., head) over the mean of all heads of the same attention.

    >>> against_layer(np.array([1.0, 3.0, 5.0]), [0, 0, 1]).tolist()
    [0.5, 1.5, 1.0]
    """
    means = np.empty_like(values)
    for site in dict.fromkeys(sites):
        here = np.asarray(sites) == site
        means[..., here] = values[..., here].mean(-1, keepdims=True)
    return ratio(values, means)


def of_weights(lens: Lens, heads: Sequence[Head]) -> dict[str, Array]:
    """(head,) each: what the weights alone say. What cannot be had of this model is left out."""
    found = {"stretch": _column(condition_numbers(singular_values(lens)), "largest", heads)}
    if task_of(lens) is not None:
        with suppress(ModelError):
            found["copying"] = _column(copying_scores(lens), "copying", heads)
    return found


def _column(table: pd.DataFrame, column: str, heads: Sequence[Head]) -> Array:
    known = {Head.of(row): row[column] for row in table[[*HEAD, column]].to_dict("records")}
    return np.array([known.get(head, np.nan) for head in heads], dtype=float)
