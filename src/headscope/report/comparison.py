"""Two runs side by side: differences head by head, always the second less the first."""

from collections.abc import Sequence

import pandas as pd

from headscope.errors import InputError
from headscope.lens.head import HEAD
from headscope.report.schema import Statistic
from headscope.study.compare import LABELS
from headscope.study.run import Run


def compared_statistics(ones: Sequence[Statistic], others: Sequence[Statistic]) -> list[Statistic]:
    """The statistics that both runs have, with the second's values as `other`; nothing else can be compared."""
    theirs = {statistic["name"]: statistic["values"] for statistic in others}
    return [{**statistic, "other": theirs[statistic["name"]]} for statistic in ones if statistic["name"] in theirs]


def compared_tables(one: Run, other: Run) -> dict[str, pd.DataFrame]:
    """The tables that both runs have, row by row: each column of the first, of the second, and the difference.

    Only where a row is known by its head and what it is labelled with: the texts that excite a head are others in each run.
    """
    found = {}
    for name in [name for name in one if name in other]:
        table = one[name]
        keys = [column for column in (*HEAD, *LABELS) if column in table]
        if not set(HEAD) <= set(keys) or table.duplicated(keys).any():
            continue
        try:
            found[name] = one.compare(other, name)
        except (InputError, TypeError):  # no head in common here, or texts, which have no difference
            continue
    return found
