"""Tables of one head, made by hand: what a rule, a sentence or a finding reads."""

from __future__ import annotations

from typing import Any

import pandas as pd

from headscope.lens.head import HEAD

SELF = ["decoder", "self", 0, 0]
REST = {"first": 0.2, "separator": 0.1, "rest": 0.7, "breadth": 0.5, "punctuation": 0.1, "one_token": 0.1}
NOWHERE = {"two_before": 0.02, "previous": 0.02, "same": 0.02, "next": 0.02, "two_after": 0.02}


def one(head: list[Any] | None = None, **columns: Any) -> pd.DataFrame:
    return pd.DataFrame([[*(head or SELF), *columns.values()]], columns=[*HEAD, *columns])


def beyond_sinks(**changes: float) -> pd.DataFrame:
    return one(**{**REST, **NOWHERE, **changes})


def relations(**changes: Any) -> pd.DataFrame:
    row = {"relation": "det", "direction": "dependent to head", "accuracy": 0.91, "baseline": 0.52, "cases": 400}
    row |= {"baseline_held_out": 0.52, "accuracy_half0": 0.9, "accuracy_half1": 0.92}
    row |= {"cases_half0": 200, "cases_half1": 200, "offset": 1, "visible": 400}
    return one(**{**row, **changes})


def repeats(**changes: float) -> pd.DataFrame:
    row = {"previous": 0.0, "duplicate": 0.0, "induction": 0.0, "sinks": 0.4, "chance": 0.01}
    return one(**{**row, "duplicate_unrepeated": 0.01, "induction_unrepeated": 0.01, **changes})
