"""The best head for antecedents: on the cases it is chosen by, and on others."""

from __future__ import annotations

import pandas as pd
import pytest

from headscope.heads.antecedents import best_antecedent_heads
from headscope.statistics.words.antecedents import COLUMNS


def table_of(**columns: list[float]) -> pd.DataFrame:
    """Two layers of one head; `columns` are accuracies in each half, of 30 and 10 cases."""
    frame = pd.DataFrame({"stack": "encoder", "kind": "self", "layer": [0, 1], "head": 0}).astype(
        {"layer": "Int64", "head": "Int64"}
    )
    for column in COLUMNS:
        for half, cases in ((0, 30), (1, 10)):
            frame[f"{column}_half{half}"] = columns.get(f"{column}_half{half}", [0.0, 0.0])
            frame[f"cases_{column}_half{half}"] = cases
        frame[column] = (30 * frame[f"{column}_half0"] + 10 * frame[f"{column}_half1"]) / 40
        frame[f"cases_{column}"] = 40
    return frame


TABLE = table_of(all_half0=[0.9, 0.6], all_half1=[0.2, 0.8], pronoun_half0=[0.1, 0.2], pronoun_half1=[0.1, 0.2])


def test_the_best_heads_by_kind() -> None:
    best = best_antecedent_heads(TABLE).set_index("mentions")
    assert list(best.index) == list(COLUMNS)
    assert best.loc["all", "layer"] == 0
    assert best.loc["all", "held_out"] == pytest.approx((30 * 0.6 + 10 * 0.2) / 40)
    # Layer 1 is the best for pronouns; the best of all, layer 0, has half of its accuracy there.
    assert best.loc["pronoun", ["layer", "accuracy", "overall", "cases"]].tolist() == [1, 0.2, 0.1, 40]


def test_intervals_are_taken_along() -> None:
    frame = TABLE.assign(all_low=[0.1, 0.2], all_high=[0.8, 0.9])
    assert best_antecedent_heads(frame).loc[0, ["accuracy_low", "accuracy_high"]].tolist() == [0.1, 0.8]


def test_kinds_without_cases_are_left_out() -> None:
    frame = TABLE.assign(cases_proper=0, proper=float("nan"), proper_half0=float("nan"), proper_half1=float("nan"))
    assert best_antecedent_heads(frame)["mentions"].tolist() == ["all", "pronoun", "nominal"]
