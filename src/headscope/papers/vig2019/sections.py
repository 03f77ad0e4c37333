"""Sections 5.1 to 5.4 of vig2019, each for one corpus and one measure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from headscope.heads.exemplars import in_markdown, readable
from headscope.later import pd
from headscope.lens.head import Head
from headscope.lens.lens import Lens
from headscope.papers.vig2019 import drawings
from headscope.papers.vig2019.settings import Settings
from headscope.papers.vig2019.tables import by_layer, correlations, heads_table, labels_by_layer, targeted
from headscope.statistics import DependencyLengths, RelationTypes, Tags
from headscope.statistics.words.dependencies import FORMS
from headscope.study import Run
from headscope.study.results.result import Result
from headscope.study.tables import main_stack
from headscope.text import Corpus

FREQUENT = 8  # tags in figures 6 and 7; all of them are in A.1 and A.2


@dataclass(frozen=True)
class Analysis:
    """One corpus and measure: its tables, and what the paper makes of them."""

    corpus_name: str
    corpus: Corpus
    lens: Lens
    counted: Run
    second: Run  # with variability
    settings: Settings
    measure: str
    suffix: str  # of the corpus's results

    @cached_property
    def heads(self) -> pd.DataFrame:
        filtered, dependencies = self.settings.filtered(self.measure), self.settings.dependencies(self.measure)
        return heads_table(self.counted, self.second, filtered, dependencies)

    @cached_property
    def tags(self) -> pd.DataFrame:
        return main_stack(self.counted[Tags(**self.settings.filtered(self.measure))])

    @cached_property
    def lengths(self) -> pd.DataFrame:
        return self.counted[DependencyLengths(level=self.settings.level)]

    def _result(self, name: str, title: str, table: pd.DataFrame, *, notes: Sequence[str] = (), **rest: Any) -> Result:
        by = "" if self.measure == "weight" else f"_{self.measure}"
        return Result(f"vig2019_{name}{self.suffix}{by}", title, table, notes=notes, of=[self.corpus_name], **rest)

    def _of_heads(self, name: str, title: str, column: str, legend: str, notes: Sequence[str]) -> Result:
        """A heat map of a column, and the heads that have most of it."""
        shown, picture = _top(self.heads, column), drawings.of_heads(self.heads, column, legend)
        return self._result(name, title, self.heads, shown=shown, figure=picture, notes=notes)

    @property
    def filtered(self) -> list[str]:
        return ["Attention to the first token is left out."] if self.settings.without_first else []

    @property
    def whole(self) -> list[str]:
        """What is said of attention *from* tokens, where all of their weights count."""
        if self.measure != "weight" or self.settings.without_first:
            return []
        return ["Every token's weights sum up to 1, so all heads have the same share: that of the tokens."]

    def null_attention(self) -> list[Result]:
        """Section 5.2.3."""
        title, legend = "Figure 5: attention to the first token", "Share on the first token"
        return [self._of_heads("fig5", title, "first_token", legend, ())]

    def parts_of_speech(self) -> Iterator[Result]:
        """Section 5.3.1."""
        names = list(self.tags.groupby("tag")["corpus"].first().sort_values(ascending=False).index)
        of_tags = targeted(self.tags, "tag")
        for side, frequent, all_of_them in (("to", "6", "A1"), ("from", "7", "A2")):
            shown = of_tags[of_tags["side"] == side].drop(columns="side").round(3)
            for number, which, some in ((frequent, "", names[:FREQUENT]), (all_of_them, "all ", names)):
                title = f"Figure {number.replace('A', 'A.')}: attention {side} {which}parts of speech"
                picture = drawings.of_labels(self.tags, "tag", side, some)
                notes = [*self.filtered, *(self.whole if side == "from" else [])]
                yield self._result(f"fig{number}", title, self.tags, shown=shown, figure=picture, notes=notes)

    def dependencies(self) -> Iterator[Result]:
        """Section 5.3.2."""
        layers = by_layer(self.heads, [*FORMS, *(f"{form}_baseline" for form in FORMS)])
        pairs = "all pairs in sight" if self.settings.baseline == "in_sight" else "all pairs in sight of two tokens"
        notes = [*self.filtered, f"The line is the share of related pairs among {pairs}."]
        title = "Figure 8: dependency alignment by layer"
        yield self._result("fig8", title, layers, figure=drawings.alignment(layers), notes=notes)
        of_heads = main_stack(self.counted[RelationTypes(**self.settings.filtered(self.measure))])
        types = labels_by_layer(of_heads, self.heads, "relation")
        notes = [*self.filtered, "Colours are relative to each row's largest share, which stands at its end."]
        for name, side, title in (("fig9", "to", "Figure 9: attention to"), ("fig9_from", "from", "Attention from")):
            picture = drawings.types_by_layer(types, side)
            said = [*notes, *(self.whole if side == "from" else [])]
            yield self._result(name, f"{title} dependency types by layer", types, figure=picture, notes=said)
        notes = [*self.filtered, "Exact, in two passes: the mean map of the first positions, then the deviations from it."]
        yield self._of_heads("fig10", "Figure 10: attention variability", "variability", "Variability", notes)

    def distance(self) -> Iterator[Result]:
        """Section 5.3.3."""
        shown, picture = _top(self.heads, "distance"), drawings.distance(self.heads)
        title = "Figure 11: attention distance"
        yield self._result("fig11", title, self.heads, shown=shown, figure=picture, notes=self.filtered)
        yield self._of_heads("fig12", "Figure 12: attention entropy", "entropy", "Entropy (nats)", self.filtered)
        yield self._result("correlations", "Correlations over heads (section 5.3.3)", correlations(self.heads))
        title = "Probability of a dependency by distance (section 5.3.3)"
        yield self._result("lengths", title, self.lengths, shown=self.lengths.head(20))

    def exemplars(self) -> list[Result]:
        """Section 5.4: tables 1 to 3 for every head."""
        table = main_stack(self.counted[self.settings.exemplars_of(self.measure)])
        found = readable(table, self.corpus, self.lens, self.settings.exemplars, self.settings.encoding)
        strongest = found[found["rank"] <= 3].groupby(["layer", "head"])["score"].mean().nlargest(12).index
        shown = found[found.set_index(["layer", "head"]).index.isin(strongest) & (found["rank"] <= 3)]
        labels = shown["layer"].astype(str) + "." + shown["head"].astype(str)
        shown = shown.assign(head=labels, text=[in_markdown(row) for row in shown.to_dict("records")])
        shown = shown[["head", "rank", "score", "attending", "attended", "text"]]
        title = "Tables 1 to 3: exemplars of the heads that are excited most"
        notes = ["The attending token is bold, the attended one italic. All heads: `headscope exemplars RUN HEAD`."]
        return [self._result("exemplars", title, found, shown=shown, notes=notes)]


def _top(heads: pd.DataFrame, column: str, count: int = 12) -> pd.DataFrame:
    """The heads with the most, for print."""
    ranked = heads.sort_values(column, ascending=False).head(count)
    labels = [Head.of(row).label for _, row in ranked.iterrows()]
    return pd.DataFrame({"head": labels, column: ranked[column].round(3).to_list()})
