"""Which head knows which relation best, and whether that is luck (clark2019, section 4.2, table 1)."""

from __future__ import annotations

import numpy as np

from headscope.later import pd
from headscope.lens.head import HEAD
from headscope.statistics.base import Array
from headscope.statistics.words.relations import ALL, ALL_BUT_PUNCTUATION

ENOUGH = 100  # cases, for a relation or coreference to name a head
INTERVAL = ["accuracy_low", "accuracy_high"]  # a study adds them


def held_out_accuracy(accuracies: Array, cases: Array) -> float:
    """(half, head), (half,): every case is tried with the head that is the best in the other half.

    The best of many heads is partly luck, and more so where cases are few; this is not. Not a number where a half
    has no cases, and so no accuracies.

    >>> held_out_accuracy(np.array([[0.9, 0.5], [0.7, 0.4]]), np.array([30, 10]))
    0.85
    """
    best = accuracies.argmax(1)
    correct = accuracies[0, best[1]] * cases[0] + accuracies[1, best[0]] * cases[1]
    return float(correct / cases.sum())


def frequent(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of single relations that have enough cases: in rare ones some head is right by luck. Punctuation is none."""
    relation = table["relation"]
    single = ~relation.isin([ALL, ALL_BUT_PUNCTUATION]) & ~relation.str.startswith("punct")
    return table[single & (table["cases"] >= ENOUGH)]


def best_relation_heads(table: pd.DataFrame, *, either_direction: bool = False) -> pd.DataFrame:
    """For every relation and direction of a `relations` table the best head; the most frequent relation first.

    With `either_direction` one row a relation, as in table 1: the direction is chosen with the head, on a half too
    where a half chooses. `held_out` is `held_out_accuracy`; `better` says which of two directions is the better one;
    `offset` is the baseline's, the head's place less its dependent's in both directions.
    """
    some = table[table["cases"] > 0]
    keys = ["relation"] if either_direction else ["relation", "direction"]
    rows = [_best_of(group) for _, group in some.groupby(keys, sort=False)]
    columns = ["relation", "direction", *HEAD, "accuracy", *(name for name in INTERVAL if name in table), "held_out"]
    columns += ["baseline", "baseline_held_out", "offset", "cases", "visible"]
    best = pd.DataFrame(rows, columns=columns).astype({name: table[name].dtype for name in columns if name in table})
    if not either_direction:
        best["better"] = _is_better(best)
    return best.sort_values("cases", ascending=False, kind="stable", ignore_index=True)


def _best_of(group: pd.DataFrame) -> pd.Series:
    """The row of the group's best head, the first of several."""
    halves = np.stack([group[f"accuracy_half{half}"].to_numpy(dtype=float) for half in (0, 1)])
    cases = group[["cases_half0", "cases_half1"]].iloc[0].to_numpy(dtype=float)
    best = group.iloc[int(group["accuracy"].to_numpy().argmax())].copy()
    best["held_out"] = held_out_accuracy(halves, cases)
    return best


def _is_better(best: pd.DataFrame) -> pd.Series:
    """For each row, whether its relation has no better direction; of two alike the first."""
    first = best.sort_values("accuracy", ascending=False, kind="stable").drop_duplicates("relation").index
    return pd.Series(best.index.isin(first), index=best.index)
