"""kobayashi2020 for one model: everything in one pass over the text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path

from headscope.errors import InputError
from headscope.lens.lens import Lens
from headscope.papers.kobayashi2020 import facts
from headscope.papers.kobayashi2020.claims import claims, not_shown
from headscope.papers.kobayashi2020.results import Analysis
from headscope.papers.result import Claim, Result, claims_result
from headscope.papers.workspace import Workspace, first
from headscope.probes.progress import Progress, Silent
from headscope.statistics import (
    ByLength,
    CategoryWeights,
    Dispersion,
    Frequency,
    FrequencyCurve,
    InputDispersion,
    Mixing,
    Statistic,
    WeightNorm,
    WeightNormSample,
)
from headscope.statistics.token_categories import parse_categories
from headscope.study import Run
from headscope.text import Corpus
from headscope.text.frequency import Frequencies

SHARD = 32  # documents: small, so that there are enough shards to resample
HEAT_MAPS = {4: "separator", 10: "first", 11: "punctuation", 12: "other"}
FREQUENCY = "frequency.txt"  # in the run directory, where no file was given


@dataclass(frozen=True)
class Data:
    """A text, and how frequent each piece of the tokenizer is; without the file, the text itself is counted."""

    text: Corpus
    frequency: Path | None = None


@dataclass(frozen=True)
class Settings:
    """What changes the numbers."""

    segments: int = 992
    limit: int = 128  # tokens of a segment
    categories: dict[str, str] = field(
        default_factory=dict
    )  # by name: tokens with spaces between, or /a regular expression/
    sample: int = 2000  # pairs of each category in figures 5 and 13
    every: int = 10  # figure 25 reads every tenth text: effective attention costs a decomposition a head
    seed: int = 0


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
    parse_categories(chosen.categories)
    if all(site.projection is None for site in lens.sites):
        raise InputError(f"{lens.name} has no norms: no output projection was found; headscope doctor says why.")
    about = {**asdict(chosen), "categories": list(chosen.categories.items())}  # in order: the first that fits wins
    workspace = Workspace("kobayashi2020", Path(out), lens, about, progress or Silent())
    workspace.begin()
    counted = workspace.study(
        "text",
        first(data.text, chosen.segments),
        statistics(chosen, _frequency_file(workspace, data)),
        batch_size=batch_size,
        shard_size=SHARD,
        truncate=True,
        limit=min(chosen.limit, lens.limit or chosen.limit),
    )
    workspace.keep(counted)
    analysis = Analysis(counted, lens, chosen.categories, chosen.seed)
    for what, make in _results(analysis).items():
        workspace.attempt(what, None, partial(_add, workspace, make))
    made = claims(analysis)
    workspace.add(claims_result("kobayashi2020_claims", made, facts.MODEL))
    return workspace.finish(facts.TITLE, _opening(lens, made))


def statistics(settings: Settings, frequency: Path) -> list[Statistic]:
    """All that is counted in the pass."""
    own = settings.categories or None
    return [
        Dispersion(),
        InputDispersion(),
        CategoryWeights(categories=own),
        CategoryWeights(measure="joint_norm", categories=own),
        WeightNorm(categories=own),
        WeightNormSample(size=settings.sample, seed=settings.seed, categories=own),
        Frequency(path=str(frequency)),
        FrequencyCurve(path=str(frequency)),
        ByLength(every=settings.every),
        Mixing(),
    ]


def _results(analysis: Analysis) -> dict[str, Callable[[], list[Result]]]:
    return {
        "Table 1 (section 4.1)": analysis.table1,
        "Figure 3 (section 4.2)": analysis.figure3,
        "Table 2 (section 4.2)": analysis.table2,
        **{f"Figure {number} (section 4.2)": partial(analysis.heat_map, number, name) for number, name in HEAT_MAPS.items()},
        "Your own categories": analysis.own_categories,
        "Figures 5 and 13 (section 4.2)": analysis.scatters,
        "Figures 14 and 15 (section 4.3)": analysis.frequency,
        "The joint norm (appendix A)": analysis.joint,
        "Table 4 (appendix B)": analysis.table4,
        "Figure 9 (appendix B)": analysis.figure9,
        "Figure 25 (appendix G)": analysis.figure25,
        "The mixing ratio": analysis.mixing,
    }


def _add(workspace: Workspace, make: Callable[[], list[Result]]) -> None:
    for result in make():
        workspace.add(result)


def _frequency_file(workspace: Workspace, data: Data) -> Path:
    """What was given, or the counts of the whole text, written once into the run directory."""
    if data.frequency is not None:
        return data.frequency
    path = workspace.folder / FREQUENCY
    if not path.is_file():
        Frequencies.count(workspace.lens, data.text).write(path)
    return path


def _opening(lens: Lens, made: list[Claim]) -> list[str]:
    lacking = not_shown(made)
    verdict = "This model shows everything that is claimed there of BERT."
    if lacking:
        lines = [f"- {line.replace('<', '&lt;')}" for line in lacking]  # Markdown would take </s> for a tag
        verdict = "\n".join(["What the paper found in BERT and this model does not show:", "", *lines])
    return [
        f"Made by `headscope paper kobayashi2020` for {lens.name}. The paper's model is {facts.MODEL}, its data "
        f"{facts.TEXT}. What is printed here counts layers and heads from 1, as the paper does; Parquet tables from 0.",
        verdict,
    ]
