"""Patterns of attention named from a head's shares: next token, previous token, separator, broad (clark2019, figure 1)."""

from __future__ import annotations

import numpy as np

from headscope.later import pd

HALF = 0.5  # clark2019, section 3.1: heads that put more than half of their attention there
BROAD = 0.8  # entropy as a part of what attending to all alike would have
NONE = "none"


def name_patterns(shares: pd.DataFrame, breadth: pd.Series) -> pd.DataFrame:
    """For each head the pattern that says most about it, and the share that says so.

    `shares` has a column a pattern (previous, next, separator, ...), `breadth` the entropy as a part of the uniform
    one. A pattern needs more than half of the attention; broad, at least 0.8 of the uniform entropy; the largest
    share wins, and broad is what is left to a head that has no other.

    >>> shares = pd.DataFrame({"previous": [0.9, 0.1, 0.2], "separator": [0.0, 0.1, 0.3]})
    >>> name_patterns(shares, pd.Series([0.2, 0.95, 0.5]))
        pattern  share
    0  previous   0.90
    1     broad   0.95
    2      none    NaN
    """
    values = shares.fillna(0).to_numpy(dtype=float)
    largest = values.argmax(1)
    most = values[np.arange(len(values)), largest]
    broad = breadth.to_numpy(dtype=float)
    names = np.array(shares.columns, dtype=object)[largest]
    pattern = np.where(most > HALF, names, np.where(broad >= BROAD, "broad", NONE))
    share = np.where(most > HALF, most, np.where(broad >= BROAD, broad, np.nan))
    return pd.DataFrame({"pattern": pattern, "share": share}, index=shares.index)
