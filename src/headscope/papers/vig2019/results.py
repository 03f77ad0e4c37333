"""The results of sections 5.1 to 5.4 for one corpus and one measure."""

from __future__ import annotations

from typing import Any

import pandas as pd

from headscope.papers.vig2019 import drawings
from headscope.papers.vig2019.tables import (
    Names,
    by_layer,
    correlations,
    heads_table,
    label_of,
    labels_by_layer,
    targeted,
)
from headscope.statistics.words.dependencies import FORMS
from headscope.study import Run
from headscope.study.results.result import Result
from headscope.study.results.workspace import own_heads

FREQUENT = 8  # tags in figures 6 and 7; all of them are in A.1 and A.2


class Analysis:
    """One corpus and measure: its tables, and what the paper makes of them."""

    def __init__(self, counted: Run, variability: Run, names: Names, suffix: str) -> None:
        self.suffix = suffix
        self.heads = heads_table(counted, variability, names)
        self.tags = own_heads(counted[names.of("tags")])
        self.types = own_heads(counted[names.of("relation_types")])
        self.lengths = counted["dependency_lengths" + ("_words" if names.words else "")]
        self.filtered = names.without_first

    def _result(self, name: str, title: str, table: pd.DataFrame, **rest: Any) -> Result:
        return Result(f"vig2019_{name}{self.suffix}", title, table, **rest)

    def results(self) -> list[Result]:
        heads = self.heads
        names = list(self.tags.groupby("tag")["corpus"].first().sort_values(ascending=False).index)
        types = labels_by_layer(self.types, heads, "relation")
        columns = [*FORMS, *(f"{form}_baseline" for form in FORMS)]
        layers = by_layer(heads, columns)
        of_tags, filtered = targeted(self.tags, "tag"), _filtered(self.filtered)
        draw = drawings
        return [
            self._result("fig5", "Figure 5: attention to the first token", heads, shown=_top(heads, "first_token"),
                         figure=draw.of_heads(heads, "first_token", "Share on the first token")),
            self._result("fig6", "Figure 6: attention to parts of speech", self.tags, shown=_side(of_tags, "to"),
                         figure=draw.of_labels(self.tags, "tag", "to", names[:FREQUENT]), notes=filtered),
            self._result("figA1", "Figure A.1: attention to all parts of speech", self.tags, shown=_side(of_tags, "to"),
                         figure=draw.of_labels(self.tags, "tag", "to", names), notes=filtered),
            self._result("fig7", "Figure 7: attention from parts of speech", self.tags, shown=_side(of_tags, "from"),
                         figure=draw.of_labels(self.tags, "tag", "from", names[:FREQUENT]), notes=filtered),
            self._result("figA2", "Figure A.2: attention from all parts of speech", self.tags, shown=_side(of_tags, "from"),
                         figure=draw.of_labels(self.tags, "tag", "from", names), notes=filtered),
            self._result("fig8", "Figure 8: dependency alignment by layer", layers, figure=draw.alignment(layers),
                         notes=[*filtered, "The line is the share of related pairs among all pairs in sight."]),
            self._result("fig9", "Figure 9: attention to dependency types by layer", types,
                         figure=draw.types_by_layer(types, "to"), notes=[*filtered, _RELATIVE]),
            self._result("fig9_from", "Attention from dependency types by layer", types,
                         figure=draw.types_by_layer(types, "from"), notes=[*filtered, _RELATIVE]),
            self._result("fig10", "Figure 10: attention variability", heads, shown=_top(heads, "variability"),
                         figure=draw.of_heads(heads, "variability", "Variability"), notes=[*filtered, _TWO_PASSES]),
            self._result("fig11", "Figure 11: attention distance", heads, shown=_top(heads, "distance"),
                         figure=draw.distance(heads), notes=filtered),
            self._result("fig12", "Figure 12: attention entropy", heads, shown=_top(heads, "entropy"),
                         figure=draw.of_heads(heads, "entropy", "Entropy (nats)"), notes=filtered),
            self._result("correlations", "Correlations over heads (section 5.3.3)", correlations(heads)),
            self._result("lengths", "Probability of a dependency by distance (section 5.3.3)", self.lengths,
                         shown=self.lengths.head(20)),
        ]  # fmt: skip


_TWO_PASSES = "Exact, in two passes: the mean map of the first positions, then the deviations from it."
_RELATIVE = "Colours are relative to each row's largest share, which stands at its end."


def _filtered(without_first: bool) -> list[str]:
    return ["Attention to the first token is left out."] if without_first else []


def _top(heads: pd.DataFrame, column: str, count: int = 12) -> pd.DataFrame:
    """The heads with the most, for print."""
    ranked = heads.sort_values(column, ascending=False).head(count)
    return pd.DataFrame(
        {"head": [label_of(head) for _, head in ranked.iterrows()], column: ranked[column].round(3).to_list()}
    )


def _side(of_tags: pd.DataFrame, side: str) -> pd.DataFrame:
    return of_tags[of_tags["side"] == side].drop(columns="side").round(3)
