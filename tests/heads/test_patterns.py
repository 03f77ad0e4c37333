"""Naming patterns: the largest share wins, half is not more than half, and broad is for those without another."""

from __future__ import annotations

import pandas as pd

from headscope.heads.patterns import name_patterns


def test_by_hand() -> None:
    shares = pd.DataFrame({"next": [0.51, 0.5, 0.6, None], "separator": [0.2, 0.5, 0.7, None]})
    named = name_patterns(shares, pd.Series([0.9, 0.79, 0.1, 0.8]))
    assert named["pattern"].tolist() == ["next", "none", "separator", "broad"]
    assert named["share"].fillna(-1).tolist() == [0.51, -1, 0.7, 0.8]
