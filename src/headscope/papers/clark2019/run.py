"""Every table and figure of clark2019 for one model: the sections in the paper's order, each where its data is given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from headscope.errors import ModelError
from headscope.lens.lens import Lens
from headscope.lens.tokens.losses import own_loss
from headscope.papers.clark2019 import clustering, coreference, facts, importance, maps, probing, surface, syntax
from headscope.probes import probe
from headscope.probes.antecedent_rules import antecedent_rules
from headscope.probes.treebank import TooFew
from headscope.progress import Progress, Silent
from headscope.statistics import Antecedents, BeyondSinks, Importance, JensenShannon, Relations, Statistic
from headscope.study import Run
from headscope.study.results.result import Claim, claims_result
from headscope.study.results.workspace import Unsuitable, Workspace, first, own_heads
from headscope.text import Corpus, Document

SHARD = 32  # documents: small, so that there are enough shards to resample


@dataclass(frozen=True)
class Data:
    """What the sections read; what is None leaves its sections out."""

    text: Corpus | None = None
    treebank: Corpus | None = None
    train: Corpus | None = None  # for the probes; without it, a part of the treebank
    coreference: Corpus | None = None
    vectors: Path | None = None


@dataclass(frozen=True)
class Settings:
    """What changes the numbers."""

    measure: str = "weight"
    segments: int = 1000
    limit: int = 128  # tokens of a segment, and of a window for coreference
    train_sentences: int | None = None
    twin: bool = True
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
    """Make what there is data for, in a run directory; run it again to go on after an interruption."""
    chosen = settings or Settings()
    workspace = Workspace("clark2019", Path(out), lens, asdict(chosen), progress or Silent())
    workspace.begin()
    sections = Sections(workspace, data, chosen, batch_size)
    no_text, no_treebank = _missing(data.text, "text"), _missing(data.treebank, "treebank")
    workspace.attempt("Figures 1, 2 and 4 (section 3)", no_text, sections.surface)
    workspace.attempt("Figure 1 (example maps)", no_text, sections.pattern_maps)
    workspace.attempt("Figure 3 (gradients)", no_text, sections.importance)
    workspace.attempt("Table 1 (section 4.2)", no_treebank, sections.syntax)
    workspace.attempt("Table 2 (section 4.3)", _missing(data.coreference, "coreference"), sections.coreference)
    no_cases = no_treebank and _missing(data.coreference, "treebank or --coreference")
    workspace.attempt("Figure 5 (example maps)", no_cases, sections.relation_maps)
    workspace.attempt("Table 3 (section 5)", no_treebank, sections.probes)
    workspace.attempt("Figure 6 (section 6)", no_text, sections.clusters)
    workspace.add(claims_result("clark2019_claims", sections.claims, facts.MODEL))
    return workspace.finish(facts.TITLE, _opening(lens, chosen))


class Sections:
    """The sections of the paper, and what they find out for each other: figure 6 marks what the others have found."""

    def __init__(self, workspace: Workspace, data: Data, settings: Settings, batch_size: int) -> None:
        self.workspace = workspace
        self.data = data
        self.settings = settings
        self.batch_size = batch_size
        self.tokens = surface.EdgeTokens(workspace.lens)
        self.claims: list[Claim] = []
        self.shares: pd.DataFrame | None = None
        self.patterns: pd.DataFrame | None = None
        self.best_heads: pd.DataFrame | None = None
        self.best_antecedents: pd.DataFrame | None = None
        self.windows: list[Document] = []
        self._text: Run | None = None

    @property
    def suffix(self) -> str:
        """What tables of a measure have after their names."""
        return "" if self.settings.measure == "weight" else f"_{self.settings.measure}"

    # Section 3

    def surface(self) -> None:
        shares = surface.head_shares(self._read_text(), self.suffix)
        self.shares = shares
        self.patterns = surface.patterns(shares)
        for result in surface.results(shares, self.tokens):
            self.workspace.add(result)
        self.claims += surface.claims(shares, self.tokens)

    def pattern_maps(self) -> None:
        assert self.shares is not None
        lens, measure = self.workspace.lens, self.settings.measure
        self.workspace.add(maps.figure1(self.shares, self.tokens, self._segments(), lens, measure))

    def importance(self) -> None:
        try:
            own_loss(self.workspace.lens)
        except ModelError as error:
            raise Unsuitable(str(error)) from error
        statistics = [Importance(seed=self.settings.seed)]
        counted = self._study("importance", self._segments(), statistics, max_tokens=self._limit())
        self.workspace.keep(counted)
        self.workspace.add(importance.figure3(counted["importance"], self.tokens))

    # Section 4

    def syntax(self) -> None:
        assert self.data.treebank is not None
        statistics = [Relations(measure=self.settings.measure)]
        counted = self._study("treebank", self.data.treebank, statistics)
        self.workspace.keep(counted)
        name = statistics[0].table_name
        with self._twin() as twin:
            theirs = None if twin is None else self._study("treebank-twin", self.data.treebank, statistics, twin)[name]
        result = self.workspace.add(syntax.table1(counted[name], theirs))
        self.best_heads = result.table
        self.claims += syntax.claims(counted[name])

    def coreference(self) -> None:
        assert self.data.coreference is not None
        limit = self._limit()
        parts = coreference.windows_of(self.data.coreference, self.workspace.lens, limit)
        rules = antecedent_rules(parts)
        if not rules["cases_all"].any():
            raise Unsuitable("no mention in these documents has an antecedent before it in the same window.")
        corpus, statistics = Corpus.from_documents(parts), [Antecedents(measure=self.settings.measure)]
        counted = self._study("coreference", corpus, statistics)
        self.workspace.keep(counted)
        name = statistics[0].table_name
        with self._twin() as twin:
            theirs = None if twin is None else self._study("coreference-twin", corpus, statistics, twin)[name]
        self.best_antecedents, self.windows = counted[name], parts
        self.workspace.add(coreference.table2(counted[name], rules, theirs, limit))

    def relation_maps(self) -> None:
        found = (self.best_heads, self.data.treebank, self.best_antecedents, self.windows)
        self.workspace.add(maps.figure5(*found, self.workspace.lens, self.settings.measure))

    # Sections 5 and 6

    def probes(self) -> None:
        data, settings = self.data, self.settings
        assert data.treebank is not None
        train, test = (data.treebank, None) if data.train is None else (data.train, data.treebank)
        try:
            probes = probe(
                self.workspace.lens,
                train,
                test,
                data.vectors,
                seed=settings.seed,
                cache=self.workspace.folder / "parts" / "maps",
                limit=settings.train_sentences,
                measure=settings.measure,
                truncate=True,
                progress=self.workspace.progress,
            )
        except TooFew as error:
            raise Unsuitable(str(error)) from error
        self.workspace.add(probing.table3(probes))
        if data.vectors is None:
            raise Unsuitable("the probes that read words are left out, since there are no vectors (--vectors).")

    def clusters(self) -> None:
        behaviours = clustering.behaviours(self.patterns, self.best_heads, self.best_antecedents)
        divergence = own_heads(self._read_text()[f"jensen_shannon{self.suffix}"])
        result, claims = clustering.figure6(divergence, behaviours, self.settings.seed)
        self.workspace.add(result)
        self.claims += claims

    # What they share

    def _read_text(self) -> Run:
        """One pass for sections 3 and 6, and for what a report on the run says of each head."""
        if self._text is None:
            measure = self.settings.measure
            statistics = [*surface.statistics(measure), JensenShannon(measure=measure), BeyondSinks(measure=measure)]
            self._text = self._study("text", self._segments(), statistics, max_tokens=self._limit())
            self.workspace.keep(self._text)
        return self._text

    def _segments(self) -> Corpus:
        assert self.data.text is not None
        return first(self.data.text, self.settings.segments)

    def _study(
        self, part: str, corpus: Corpus, statistics: Sequence[Statistic], lens: Lens | None = None, **feed: Any
    ) -> Run:
        return self.workspace.study(
            part, corpus, statistics, lens, batch_size=self.batch_size, shard_size=SHARD, truncate=True, **feed
        )

    def _limit(self) -> int:
        """Tokens of a segment or window: what was asked for, or what the model can read if that is less."""
        return min(self.settings.limit, self.workspace.lens.max_tokens or self.settings.limit)

    @contextmanager
    def _twin(self) -> Iterator[Lens | None]:
        """The model with random weights, where it is wanted."""
        if not self.settings.twin:
            yield None
            return
        with self.workspace.lens.twin(self.settings.seed) as twin:
            yield twin


def _missing(corpus: Corpus | None, flag: str) -> str | None:
    return None if corpus is not None else f"there is no data for it (--{flag})."


def _opening(lens: Lens, settings: Settings) -> list[str]:
    heads = sum(site.heads for site in lens.sites)
    return [
        f"Made by `headscope paper clark2019` for {lens.name} ({len(lens.sites)} attentions, {heads} heads), "
        f"read by {settings.measure}.",
        "Tables in Parquet count layers and heads from 0, as everywhere in headscope. What is printed here follows the "
        "paper: layer-head, from 1.",
    ]
