"""What is known of every layer and head as an aligner: error rates out of a study, and scores of links that were written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from headscope.later import pd
from headscope.lens.lens import Lens
from headscope.lens.tokens.encoder import BY_WORD, Encoding
from headscope.statistics.alignment.alignment_errors import AlignmentErrors
from headscope.statistics.alignment.head_agreement import HeadAgreement
from headscope.statistics.alignment.scores import alignment_counts, bootstrap, scores
from headscope.statistics.alignment.sides import SETTINGS
from headscope.statistics.base import Statistic
from headscope.statistics.surface.mean_score import MeanScore
from headscope.study import Run
from headscope.study.results.workspace import Workspace
from headscope.text import Corpus
from headscope.text.links import Links

MEASURES = ("weight", "norm")
COLUMNS = ["setting", "measure", "layer", "head", "aer", "precision", "recall", "f1"]
COLUMNS += ["low", "high", "aer_half_0", "aer_half_1"]  # of the error rate
SURVEY_SHARD = 16  # pairs: so that a bar moves


def survey(
    workspace: Workspace,
    part: str,
    corpus: Corpus,
    lens: Lens,
    *,
    gold: bool,
    batch_size: int,
    encoding: Encoding = BY_WORD,
    agreement: str = "",
) -> Run:
    """What every layer and head would give, in parts/`part`: average norms, and with gold links error rates.

    With a measure as `agreement`, also how far heads agree by it.
    """
    statistics: list[Statistic] = [MeanScore(measure="norm")]
    if agreement:
        statistics.append(HeadAgreement(measure=agreement))
    if gold:
        measures = [*MEASURES, *(f"joint_{measure}" for measure in MEASURES)]
        statistics += [AlignmentErrors(measure=measure, setting=setting) for setting in SETTINGS for measure in measures]
    feed = {"batch_size": batch_size, "shard_size": SURVEY_SHARD, "encoding": encoding}
    return workspace.study(part, corpus, statistics, lens, **feed)


def error_tables(run: Run) -> dict[str, pd.DataFrame]:
    """`aer_layers` and `aer_heads` of a survey with gold links; low and high are the error rate's interval."""
    found: dict[str, list[pd.DataFrame]] = {"aer_layers": [], "aer_heads": []}
    for setting in SETTINGS:
        for measure in MEASURES:
            for name, read in (("aer_layers", f"joint_{measure}"), ("aer_heads", measure)):
                table = run[AlignmentErrors(measure=read, setting=setting)]
                table = table.assign(setting=setting, measure=measure).rename(columns={"aer_low": "low", "aer_high": "high"})
                found[name].append(table[COLUMNS])
    return {name: pd.concat(tables, ignore_index=True) for name, tables in found.items()}


def mean_norms(run: Run) -> pd.DataFrame:
    """The average norm of every head of the cross attention: layer, head, mean_score."""
    table = run[MeanScore(measure="norm")]
    return table[table["kind"] == "cross"].reset_index(drop=True)


def agreements(run: Run, measure: str) -> pd.DataFrame:
    """How far every head agrees, in both settings: layer, head, setting, two_ways, consensus, score, with_first."""
    return run[HeadAgreement(measure=measure)].drop(columns=["stack", "kind"])


def link_scores(systems: Mapping[str, Iterable[Links]], gold: Iterable[Links | None]) -> pd.DataFrame:
    """One row a system: aer, precision, recall, f1, their intervals (resampled sentences), and how many links it has."""
    expected = [links or Links() for links in gold]
    rows = []
    for name, links in systems.items():
        counts = np.array([alignment_counts(found.sure, true) for found, true in zip(links, expected, strict=True)])
        ends = dict(zip(("low", "high"), bootstrap(counts), strict=True))
        row = {"system": name, "links": int(counts[:, 0].sum())}
        for field, value in scores(counts.sum(0))._asdict().items():
            row |= {field: float(value)} | {f"{field}_{end}": float(getattr(bound, field)) for end, bound in ends.items()}
        rows.append(row)
    return pd.DataFrame(rows)
