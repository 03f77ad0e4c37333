"""Two runs side by side: two models of one shape, two corpora, or a model and its randomly initialised twin."""

from __future__ import annotations

from headscope.errors import InputError
from headscope.later import pd
from headscope.lens.head import HEAD

LABELS = ["relation", "direction", "tag", "other_layer", "other_head"]  # what tells the rows of one head apart


def side_by_side(left: pd.DataFrame, right: pd.DataFrame, name: str) -> pd.DataFrame:
    """For every head that both tables have: each column of both, and the second less the first.

    A table that has several rows a head (one for each relation, tag, other head) is compared row by row.
    """
    missing = [column for column in HEAD if column not in left or column not in right]
    if missing:
        raise InputError(f"{name} have no row a head, so they cannot be put side by side.")
    keys = [*HEAD, *(column for column in LABELS if column in left and column in right)]
    shared = [c for c in left.columns if c in right.columns and c not in keys and not c.endswith(("_low", "_high"))]
    both = left[[*keys, *shared]].merge(right[[*keys, *shared]], on=keys, suffixes=("_a", "_b"))
    if both.empty:
        raise InputError(f"{name} have no head in common, so they cannot be compared.")
    columns = {}
    for column in shared:
        columns[f"{column}_a"], columns[f"{column}_b"] = both[f"{column}_a"], both[f"{column}_b"]
        columns[f"{column}_difference"] = both[f"{column}_b"] - both[f"{column}_a"]
    return both[keys].assign(**columns)
