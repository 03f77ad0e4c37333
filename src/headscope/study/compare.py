"""Two runs side by side: two models of one shape, two corpora, or a model and its randomly initialised twin."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from headscope.errors import InputError
from headscope.study.tables import load_table

HEAD = ["stack", "kind", "layer", "head"]


def compare(one: str | Path, other: str | Path, name: str) -> pd.DataFrame:
    """For every head that both runs have: each column of both, and the second less the first."""
    left, right = load_table(one, name), load_table(other, name)
    missing = [column for column in HEAD if column not in left or column not in right]
    if missing:
        raise InputError(f"The table {name} has no row a head, so two of them cannot be put side by side.")
    shared = [c for c in left.columns if c in right.columns and c not in HEAD and not c.endswith(("_low", "_high"))]
    both = left[[*HEAD, *shared]].merge(right[[*HEAD, *shared]], on=HEAD, suffixes=("_a", "_b"))
    if both.empty:
        raise InputError(f"{one} and {other} have no head in common, so {name} cannot be compared.")
    columns = {}
    for column in shared:
        columns[f"{column}_a"], columns[f"{column}_b"] = both[f"{column}_a"], both[f"{column}_b"]
        columns[f"{column}_difference"] = both[f"{column}_b"] - both[f"{column}_a"]
    return both[HEAD].assign(**columns)
