"""Which head finds antecedents best, and whether that is luck (clark2019, section 4.3, table 2)."""

from __future__ import annotations

import numpy as np

from headscope.heads.relations import held_out_accuracy
from headscope.later import pd
from headscope.lens.head import HEAD
from headscope.statistics.words.antecedents import COLUMNS


def best_antecedent_heads(table: pd.DataFrame) -> pd.DataFrame:
    """Of an `antecedents` table, the best head for all mentions, pronouns, names and other nouns.

    `held_out`: every case is tried with the head that is the best in the other half. The interval is the study's, if the
    table has one. As in table 2, `overall` is the accuracy of the head that is the best for all mentions.
    """
    overall = table.loc[table["all"].idxmax()] if table["all"].notna().any() else None
    rows = []
    for column in COLUMNS:
        if overall is None or not table[f"cases_{column}"].any():
            continue
        best = table.loc[table[column].idxmax()]
        halves = np.stack([table[f"{column}_half{half}"].to_numpy(dtype=float) for half in (0, 1)])
        cases = np.array([best[f"cases_{column}_half{half}"] for half in (0, 1)], dtype=float)
        row = {"mentions": column, **best[HEAD], "accuracy": best[column]}
        row |= {f"accuracy_{end}": best[f"{column}_{end}"] for end in ("low", "high") if f"{column}_{end}" in table}
        row |= {"held_out": held_out_accuracy(halves, cases), "overall": overall[column], "cases": best[f"cases_{column}"]}
        rows.append(row)
    return pd.DataFrame(rows).astype({"layer": "Int64", "head": "Int64"} if rows else {})
