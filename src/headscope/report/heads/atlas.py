"""The atlas: a number of every head for each statistic, and heads as points in a plane."""

from collections.abc import Mapping, Sequence

import numpy as np

from headscope.errors import InputError
from headscope.heads.clusters import embed
from headscope.lens.head import HEAD, Head
from headscope.report import schema
from headscope.report.heads.cards import card_numbers
from headscope.report.schema import Scatter, Statistic
from headscope.statistics.between_heads.jensen_shannon import distance_matrix
from headscope.statistics.columns import column_about, column_title, describe, table_title
from headscope.study.run import Run

NEAREST = 3  # heads that a card names


def statistics_of(run: Run, heads: Sequence[schema.Head], paper: Mapping[str, str]) -> list[Statistic]:
    """Every number that a run has once a head, head by head; null where there is none. Those of cards come first."""
    order = {name: place for place, name in enumerate(card_numbers(run))}
    found: list[Statistic] = []
    for statistic in run.head_statistics:
        table, _, column = statistic.name.partition(".")
        about = describe(table, column)
        kinds = ("self",) if about is not None and about.positional else ("self", "cross")
        values = [statistic.values.get(head["name"]) if head["kind"] in kinds else None for head in heads]
        if all(value is None for value in values):
            continue
        on_card = about if statistic.name in order else None
        found.append(
            {
                "name": statistic.name,
                "table": paper.get(table) or table_title(table),
                "title": column_title(table, column),
                "about": column_about(table, column),
                "more": on_card.more if on_card else "",
                "unit": on_card.unit if on_card else "",
                "card": on_card is not None,
                "values": values,
            }
        )
    return sorted(found, key=lambda one: order.get(one["name"], len(order)))


def scatters_of(run: Run, names: Sequence[str]) -> list[Scatter]:
    """The heads of each stack and kind in a plane, as near to each other as their rows are alike (clark2019, figure 6)."""
    table = run.get("jensen_shannon")
    if table is None:
        return []
    found: list[Scatter] = []
    for (stack, kind), pairs in table.groupby(["stack", "kind"], sort=False):
        labels, matrix = distance_matrix(pairs)
        try:
            embedding = embed(matrix)
        except InputError:  # two heads, or heads that are all alike: there is nothing to place
            continue
        heads = [names.index(Head(*row).name) for row in labels[HEAD].itertuples(index=False)]
        apart = matrix + np.diag(np.full(len(matrix), np.inf))
        near = apart.argsort(1, kind="stable")[:, :NEAREST]
        found.append(
            {
                "group": f"{stack} {kind}",
                "heads": heads,
                "x": [round(float(x), 5) for x in embedding.points[:, 0]],
                "y": [round(float(y), 5) for y in embedding.points[:, 1]],
                "stress": embedding.stress,
                "nearest": [
                    [{"head": heads[other], "distance": float(matrix[place, other])} for other in others]
                    for place, others in enumerate(near)
                ],
            }
        )
    return found
