"""Two runs side by side: differences head by head, always the second less the first."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

from headscope.errors import InputError
from headscope.later import pd
from headscope.lens.head import HEAD
from headscope.lens.head import Head as NamedHead
from headscope.report.schema import Head, Statistic
from headscope.study.compare import LABELS
from headscope.study.run import Run


def compared_statistics(ones: Sequence[Statistic], others: Sequence[Statistic]) -> list[Statistic]:
    """The statistics that both runs have, with the second's values as `other`; nothing else can be compared."""
    theirs = {statistic["name"]: statistic["values"] for statistic in others}
    return [{**statistic, "other": theirs[statistic["name"]]} for statistic in ones if statistic["name"] in theirs]


CHANGE = "change"


def change_statistic(apart: pd.DataFrame, heads: Sequence[Head]) -> Statistic:
    """How much each head changed, over all of its numbers: what heads of two runs are ranked by.

    `apart` is what `differences` gives: of each number the difference over the deviation of all heads' numbers in both runs.
    """
    sizes = apart.assign(size=apart["spreads"].abs()).groupby(HEAD)["size"].mean()
    found = {NamedHead(*key).name: float(value) for key, value in sizes.items()}
    return {
        "name": CHANGE,
        "table": "Both runs",
        "title": "Change from A to B, over all numbers",
        "about": "the mean over a head's numbers of |B − A|, each in deviations of that number over the heads of both runs",
        "more": "",
        "unit": "",
        "card": False,
        "values": [found.get(head["name"]) for head in heads],
    }


def opening(apart: pd.DataFrame, statistics: Sequence[Statistic]) -> str:
    """What the page opens with: B less A of the number in which the heads of the two runs differ most, on the mean."""
    sizes = apart["spreads"].abs().groupby(apart["table"] + "." + apart["column"]).mean().sort_values(ascending=False)
    names = {statistic["name"] for statistic in statistics}
    most = next((str(name) for name, size in sizes.items() if name in names and size > 0), None)
    return "" if most is None else f"by={quote(most, safe='')}&run=difference"


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
