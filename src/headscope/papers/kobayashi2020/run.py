"""kobayashi2020 for one model: everything in one pass over a text, and section 5 in one over sentence pairs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path

from headscope.errors import InputError
from headscope.lens.lens import Lens
from headscope.papers.kobayashi2020 import facts
from headscope.papers.kobayashi2020.alignment.run import Pairs, align
from headscope.papers.kobayashi2020.claims import claims, not_shown
from headscope.papers.kobayashi2020.results import Analysis
from headscope.progress import Progress, Silent
from headscope.statistics import (
    BeyondSinks,
    CategoryWeights,
    Dispersion,
    EffectiveByLength,
    Frequency,
    FrequencyCurve,
    InputDispersion,
    Mixing,
    NormCorrelation,
    NormScatter,
    Statistic,
)
from headscope.statistics.kit.categories import parse_categories
from headscope.statistics.norms.frequencies import Frequencies
from headscope.study import Run
from headscope.study.results.result import Claim, Result, claims_result
from headscope.study.results.workspace import Workspace, first
from headscope.text import Corpus

SHARD = 32  # documents: small, so that there are enough shards to resample
HEAT_MAPS = {4: "separator", 10: "first", 11: "punctuation", 12: "other"}
FREQUENCY = "frequency.txt"  # in the run directory, where no file was given


@dataclass(frozen=True)
class Data:
    """A text, sentence pairs of a translation model, or both.

    `frequency` says how frequent each piece of the tokenizer is; without the file, the text itself is counted.
    """

    text: Corpus | None = None
    frequency: Path | None = None
    pairs: Pairs | None = None


@dataclass(frozen=True)
class Settings:
    """What changes the numbers."""

    segments: int = 992
    limit: int = 128  # tokens of a segment
    categories: dict[str, str] = field(
        default_factory=dict
    )  # by name: tokens with spaces between, or /a regular expression/
    sample: int = 2000  # pairs of each category in figures 5 and 13
    mixed: int = 4  # the mixing ratio is that of every fourth text: it takes products of the model's size
    every: int = 25  # figure 25 reads every 25th text: effective attention costs a decomposition a head
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
    if data.text is None and data.pairs is None:
        raise InputError("There is nothing to read: give a text, sentence pairs with gold links, or both.")
    workspace = Workspace("kobayashi2020", Path(out), lens, about, progress or Silent())
    workspace.begin()
    made = []
    if data.text is not None:
        made += _text(workspace, data.text, _frequency_file(workspace, data.text, data.frequency), chosen, batch_size)
    if data.pairs is not None:
        made += align(workspace, data.pairs, batch_size)
    of = [*([facts.MODEL] if data.text is not None else []), *([facts.TRANSLATOR] if data.pairs is not None else [])]
    workspace.add(claims_result("kobayashi2020_claims", made, "; ".join(of)))
    return workspace.finish(facts.TITLE, _opening(lens, data, made))


def _text(workspace: Workspace, text: Corpus, frequency: Path, settings: Settings, batch_size: int) -> list[Claim]:
    """Sections 4 and appendices A to D and G."""
    counted = workspace.study(
        "text",
        first(text, settings.segments),
        statistics(settings, frequency),
        batch_size=batch_size,
        shard_size=SHARD,
        truncate=True,
        max_tokens=min(settings.limit, workspace.lens.max_tokens or settings.limit),
    )
    workspace.keep(counted)
    analysis = Analysis(counted, workspace.lens, settings.categories, settings.seed)
    for what, make in _results(analysis).items():
        workspace.attempt(what, None, partial(_add, workspace, make))
    return claims(analysis)


def statistics(settings: Settings, frequency: Path) -> list[Statistic]:
    """All that is counted in the pass."""
    own = settings.categories or None
    return [
        Dispersion(),
        InputDispersion(),
        CategoryWeights(categories=own),
        CategoryWeights(measure="joint_norm", categories=own),
        NormCorrelation(categories=own),
        NormScatter(size=settings.sample, seed=settings.seed, categories=own),
        Frequency(path=str(frequency)),
        FrequencyCurve(path=str(frequency)),
        EffectiveByLength(every=settings.every),
        Mixing(every=settings.mixed),
        *(BeyondSinks(measure=measure) for measure in ("weight", "norm")),  # by which a report names the heads
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


def _frequency_file(workspace: Workspace, text: Corpus, given: Path | None) -> Path:
    """What was given, or the counts of the whole text, written once into the run directory."""
    if given is not None:
        return given
    path = workspace.folder / FREQUENCY
    if not path.is_file():
        Frequencies.count(workspace.lens, text).write(path)
    return path


def _opening(lens: Lens, data: Data, made: list[Claim]) -> list[str]:
    theirs, of = [], []
    if data.text is not None:
        theirs.append(f"The paper's model is {facts.MODEL}, its data {facts.TEXT}.")
        of.append("BERT")
    if data.pairs is not None:
        theirs.append(f"The paper's translation model is {facts.TRANSLATOR}, its data {facts.PAIRS}.")
        of.append("translation models")
    lacking = not_shown(made)
    verdict = f"This model shows everything that is claimed there of {' and '.join(of)}."
    if lacking:
        lines = [f"- {line.replace('<', '&lt;')}" for line in lacking]  # Markdown would take </s> for a tag
        verdict = "\n".join([f"What the paper found in {' and '.join(of)} and this model does not show:", "", *lines])
    return [
        f"Made by `headscope paper kobayashi2020` for {lens.name}. {' '.join(theirs)} "
        "What is printed here counts layers and heads from 1, as the paper does; Parquet tables from 0.",
        verdict,
    ]
