"""Every corpus analysis of vig2019 for one model: one pass for all of them, and a second for variability."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from headscope.heads.exemplars import in_markdown, readable
from headscope.lens.lens import Lens
from headscope.papers.vig2019 import facts
from headscope.papers.vig2019.claims import claims as claims_of
from headscope.papers.vig2019.results import Analysis
from headscope.papers.vig2019.tables import Names
from headscope.progress import Progress, Silent
from headscope.statistics import (
    BeyondSinks,
    Dependencies,
    DependencyLengths,
    Distance,
    Entropy,
    Exemplars,
    FirstToken,
    MeanMap,
    RelationTypes,
    Statistic,
    Tags,
    Variability,
)
from headscope.statistics.surface.null_attention import is_decoder_only
from headscope.study import Run
from headscope.study.results.result import Claim, Result, claims_result
from headscope.study.results.workspace import Workspace, first, own_heads
from headscope.study.study import load_statistic
from headscope.text import Corpus

SHARD = 128


@dataclass(frozen=True)
class Data:
    """A treebank, or a text with annotations, or both; the second's results have `_text` after their names then."""

    treebank: Corpus | None = None
    text: Corpus | None = None


@dataclass(frozen=True)
class Settings:
    """What changes the numbers. `without_first` is on for decoders where it is not said."""

    measures: tuple[str, ...] = ("weight",)
    without_first: bool | None = None
    words: bool = False
    positions: int = 10
    sentences: int | None = None
    exemplars: int = 5


def run(
    lens: Lens,
    out: str | Path,
    data: Data,
    settings: Settings | None = None,
    *,
    batch_size: int = 16,
    progress: Progress | None = None,
) -> Run:
    """Make every result, in a run directory; run it again to go on after an interruption."""
    chosen = settings or Settings()
    without_first = is_decoder_only(lens.sites) if chosen.without_first is None else chosen.without_first
    workspace = Workspace(
        "vig2019", Path(out), lens, {**asdict(chosen), "without_first": without_first}, progress or Silent()
    )
    workspace.begin()
    claims: list[Claim] = []
    given = [(name, corpus) for name, corpus in (("treebank", data.treebank), ("text", data.text)) if corpus is not None]
    for name, corpus in given:
        analysed = first(corpus, chosen.sentences)
        suffix = "_text" if name == "text" and len(given) == 2 else ""
        passes = _Passes(workspace, name, analysed, chosen, without_first, batch_size)
        for measure in chosen.measures:
            of_measure = suffix + ("" if measure == "weight" else f"_{measure}")
            names = Names(measure, chosen.words, without_first)
            analysis = Analysis(passes.counted, passes.variability, names, of_measure)
            for result in analysis.results():
                workspace.add(result)
            workspace.add(passes.exemplars(measure, of_measure))
            found = claims_of(analysis.heads, analysis.tags, analysis.lengths)
            claims += [claim._replace(claim=_said(claim.claim, name, measure)) for claim in found]
    workspace.add(claims_result("vig2019_claims", claims, facts.MODEL))
    return workspace.finish(facts.TITLE, _opening(lens, without_first))


def first_pass(settings: Settings, without_first: bool) -> list[Statistic]:
    """All that is counted in one pass: everything but variability, which needs the mean map of this one.

    `BeyondSinks` is not the paper's: a report on the run names the heads by it.
    """
    level = _level(settings)
    chosen: list[Statistic] = [DependencyLengths(level=level)]
    for measure in settings.measures:
        chosen += [FirstToken(measure=measure, level=level), BeyondSinks(measure=measure, level=level)]
        for cls in (Tags, RelationTypes, Dependencies, Distance, Entropy):
            chosen.append(cls(measure=measure, level=level, without_first=without_first))
        chosen += [mean_map(settings, measure, without_first), exemplars_of(settings, measure, without_first)]
    return chosen


def mean_map(settings: Settings, measure: str, without_first: bool) -> MeanMap:
    return MeanMap(measure, _level(settings), without_first, settings.positions)


def exemplars_of(settings: Settings, measure: str, without_first: bool) -> Exemplars:
    """More than are shown: near-duplicates are removed from them."""
    return Exemplars(measure=measure, without_first=without_first, kept=4 * settings.exemplars)


def _level(settings: Settings) -> str:
    return "word" if settings.words else "token"


class _Passes:
    """The studies of one corpus."""

    def __init__(
        self, workspace: Workspace, part: str, corpus: Corpus, settings: Settings, without_first: bool, batch_size: int
    ) -> None:
        self.workspace, self.corpus, self.settings = workspace, corpus, settings
        self.without_first = without_first
        feed: dict[str, Any] = {"batch_size": batch_size, "shard_size": SHARD, "truncate": True}
        self.counted = workspace.study(part, corpus, first_pass(settings, without_first), **feed)
        workspace.keep(self.counted)
        self.variability = workspace.study(
            f"{part}-variability", corpus, self._second_pass(), **feed, max_tokens=self._enough()
        )
        workspace.keep(self.variability)

    def _second_pass(self) -> Sequence[Statistic]:
        firsts = [mean_map(self.settings, measure, self.without_first) for measure in self.settings.measures]
        means = [load_statistic(self.counted, self.workspace.lens, one) for one in firsts]
        return [Variability.of(mean) for mean in means if isinstance(mean, MeanMap)]

    def _enough(self) -> int | None:
        """A decoder's first rows do not change with what follows, so the second pass need not read on.

        Cut texts end in special tokens too, where a tokenizer adds them: these come behind the positions that count.
        """
        lens = self.workspace.lens
        if lens.sites[0].stack != "decoder" or self.settings.words:
            return None
        return self.settings.positions + int(lens.tokenizer.num_special_tokens_to_add())

    def exemplars(self, measure: str, suffix: str) -> Result:
        """Tables 1 to 3 for every head."""
        statistic = exemplars_of(self.settings, measure, self.without_first)
        table = own_heads(self.counted[statistic.table_name])
        found = readable(table, self.corpus, self.workspace.lens, self.settings.exemplars)
        strongest = found[found["rank"] <= 3].groupby(["layer", "head"])["score"].mean().nlargest(12).index
        shown = found[found.set_index(["layer", "head"]).index.isin(strongest) & (found["rank"] <= 3)]
        labels = shown["layer"].astype(str) + "." + shown["head"].astype(str)
        return Result(
            f"vig2019_exemplars{suffix}",
            "Tables 1 to 3: exemplars of the heads that are excited most",
            found,
            shown.assign(head=labels, text=[in_markdown(row) for row in shown.to_dict("records")])[
                ["head", "rank", "score", "attending", "attended", "text"]
            ],
            notes=["The attending token is bold, the attended one italic. All heads: `headscope exemplars RUN HEAD`."],
        )


def _said(claim: str, corpus: str, measure: str) -> str:
    return f"{claim} ({corpus}{'' if measure == 'weight' else ', by ' + measure})"


def _opening(lens: Lens, without_first: bool) -> list[str]:
    filtered = "left out of everything but figure 5" if without_first else "kept"
    return [
        f"Made by `headscope paper vig2019` for {lens.name}; attention to the first token is {filtered}. The paper's model "
        f"is {facts.MODEL}, its data {facts.TEXT}. Layers and heads count from 0, as there."
    ]
