"""Ablate: what happens without each head, over a corpus -> a run directory that a kill cannot hurt.

Up to four phases, each over the same shards and each resumed by itself: means, estimates, exact effects, the curve.
"""

from __future__ import annotations

import math
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from headscope.ablation import tables
from headscope.ablation.asked import Asked
from headscope.ablation.exact import Removal, width_of
from headscope.ablation.predicted import has_words
from headscope.ablation.removals import Removals, curve, order_by, removable, sets_named, single_heads, whole_layers
from headscope.ablation.work import AblationWork, MeansWork, can_estimate
from headscope.errors import InputError
from headscope.later import pd
from headscope.lens.head_means import FILE, HeadMeans
from headscope.lens.lens import Lens
from headscope.lens.source import ModelSource
from headscope.progress import Progress, Silent
from headscope.remote import as_path
from headscope.statistics.base import Array
from headscope.study.count import BatchSettings
from headscope.study.engine import Engine, Job, LocalEngine
from headscope.study.groups import describe, group_size
from headscope.study.manifest import MadeWith, begin_run, check_run, is_begun, save_manifest
from headscope.study.run import Run
from headscope.study.shards import SHARD
from headscope.study.state import State
from headscope.study.study import count_shards, finished_shards
from headscope.study.tables import save_table
from headscope.study.work import ShardCounts
from headscope.text import Corpus
from headscope.text.as_read import notices
from headscope.text.corpus import OnError
from headscope.text.pieces import Cut

STRANGE = 0.6  # of the loss of guessing: beyond, a text is not of the model's own kind


def ablate(
    lens: Lens | ModelSource,
    corpus: Corpus | Iterable[Any],
    *,
    how: str | Sequence[str] = "mean",
    at: Literal["all", "first", "rest"] = "all",
    heads: Sequence[str] = (),
    layers: bool = False,
    curve: str | None = None,
    curve_run: Run | str | Path | None = None,
    each: bool = True,
    estimate: bool | None = None,
    exact: int | None = None,
    draws: int = 8,
    means: HeadMeans | str | Path | None = None,
    out: str | Path | None = None,
    batch_size: int = 16,
    max_tokens: int | None = None,
    truncate: bool = False,
    on_error: OnError = "stop",
    shard_size: int = SHARD,
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> Run:
    """What happens without each head: the change of the model's loss and KL, in nats per predicted token, as a run.

    `how` says what takes a head's place (mean, zero, resample; several are as many rows a head), `at` at which tokens. A
    model without a language-model head has 1 - cos of its states instead. `heads` are sets that are taken away together
    ("1.3, 1.0"), `layers` takes whole layers away, `curve` heads one after the other by a column (`ablation.kl`) of this or
    another run; `each=False` counts these alone, and no head by itself. `estimate=True` counts only estimates, from
    backward passes, and `exact` of these the largest exactly; `estimate=False` leaves them out. `means` are those that take
    the heads' place; without them they are the corpus's own.
    """
    ways = (how,) if isinstance(how, str) else tuple(how)
    asked = Asked(ways, at, tuple(heads), layers, curve, each, estimate, exact, draws, means is not None)
    ordering = None if curve_run is None else Run.open(curve_run)
    asked.check_curve(ordering)
    batches = BatchSettings(batch_size, max_tokens, truncate, on_error)
    read = corpus if isinstance(corpus, Corpus) else Corpus.of(corpus, on_error=on_error)
    run = as_path(out) if out is not None else Path(tempfile.mkdtemp(prefix="headscope-"))
    settings = {**batches.describe(), "shard_size": shard_size, **asked.describe()}
    if isinstance(lens, ModelSource) and is_begun(run):
        described = {**read.describe(), "fingerprint": read.fingerprint()}
        check_run(run, "ablate", lens, settings, corpus=described)
    with lens.open() if isinstance(lens, ModelSource) else nullcontext(lens) as opened:
        phases = Phases.begin(run, opened, read, batches, settings, shard_size, engine, progress or Silent())
        return _Counting(opened, asked, phases, means, ordering).run()


@dataclass
class Phases:
    """A run directory, its corpus cut into shards, and who counts them: any job goes over all shards, and is resumed."""

    run: Path
    corpus: Corpus
    cut: Cut
    manifest: dict[str, Any]
    engine: Engine
    progress: Progress
    common: dict[str, Any]  # of every job

    @classmethod
    def begin(
        cls,
        run: Path,
        lens: Lens,
        corpus: Corpus,
        batches: BatchSettings,
        settings: dict[str, Any],
        shard_size: int,
        engine: Engine | None,
        progress: Progress,
    ) -> Phases:
        cut = corpus.cut(shard_size)
        if cut.documents == 0:
            raise InputError("The corpus has no documents: there is nothing to count.")
        counted = {"fingerprint": corpus.fingerprint(), "documents": cut.documents, "skipped": cut.skipped.describe()}
        manifest = begin_run(run, "ablate", lens, settings, corpus={**corpus.describe(), **counted})
        for line in notices(manifest["corpus"]):
            progress.say(line)
        made_with = MadeWith.of(lens, manifest)
        size = group_size(cut.documents)
        common = {"source": lens.source, "made_with": made_with, "batches": batches, "group_size": size}
        return cls(run, corpus, cut, manifest, engine or LocalEngine(lens), progress, common)

    @property
    def shards(self) -> int:
        return -(-self.cut.documents // self.cut.size)

    def count(self, folder: Path, job: Job[ShardCounts]) -> Iterable[tuple[State, list[int], dict[str, int]]]:
        """Do a job on every shard that has no state in `folder` yet, and give the states in order."""
        count_shards(folder, job, self.corpus, self.cut, self.engine, self.progress)
        return finished_shards(folder, self.shards)


class _Counting:
    """One run: phase by phase, and its tables."""

    def __init__(
        self, lens: Lens, asked: Asked, phases: Phases, means: HeadMeans | str | Path | None, ordering: Run | None
    ) -> None:
        self.lens, self.asked, self.phases, self.ordering = lens, asked, phases, ordering
        self.sites = removable(lens)
        if not self.sites:
            raise InputError(f"{lens.name} has no attention whose heads can be taken away: headscope doctor says why.")
        asked.check_curve(ordering, words=has_words(lens))
        self.heads = [heads[0] for heads in single_heads(self.sites)]
        self.counts: Counter[str] = Counter()
        self.work = AblationWork(**phases.common, ways=asked.ways, at=asked.at, draws=asked.draws, means=self._means(means))

    def run(self) -> Run:
        run = self.phases.run
        estimated = self._estimates()
        exact = self._exact(estimated)
        merged = self._merged(run, exact.every) if exact.every else None
        found = {way: tables.effects(merged, way) for way in self.asked.ways} if merged else {}
        place = {heads: index for index, heads in enumerate(exact.every)}
        if self.asked.each:
            self._save_heads(exact, place, found, estimated)
        for name, make in ((tables.LAYERS, tables.layer_table), (tables.SETS, tables.set_table)):
            sets = exact.by_table.get(name)
            if sets:
                rows = [place[heads] for heads in sets]
                frames = [make(sets, way, tables.chosen(columns, rows)) for way, columns in found.items()]
                save_table(run, name, pd.concat(frames, ignore_index=True))
        steps = self._save_curve()
        return self._finish(merged or steps)

    def _means(self, given: HeadMeans | str | Path | None) -> HeadMeans | None:
        if "mean" not in self.asked.ways:
            return None
        file = self.phases.run / FILE
        if given is not None:
            found = HeadMeans.load(given) if isinstance(given, (str, Path)) else given
        else:
            sums: dict[str, Array] = {}
            tokens: Counter[str] = Counter()
            for state, _, _ in self.phases.count(self.phases.run / "means", MeansWork(**self.phases.common)):
                for name, some in state["sums"].items():
                    sums[name] = sums.get(name, np.zeros_like(some)) + some
                    tokens[name] += int(state["tokens"][name])
            by_site = {name: some / tokens[name] for name, some in sums.items() if tokens[name]}
            found = HeadMeans(self.lens.name, by_site, dict(tokens))
        found.save(file)
        return found

    def _estimates(self) -> dict[str, dict[str, Array]]:
        """By way, estimates per predicted token (head,)."""
        wanted = self.asked.estimate
        if wanted is False or not self.asked.each or (wanted is None and not can_estimate(self.lens)):
            return {}
        if not can_estimate(self.lens):
            raise InputError(
                f"{self.lens.name} predicts no words, so there is nothing to estimate from: leave out --estimate."
            )
        merged = self._merged(self.phases.run / "estimates", None)
        tokens = merged.of("clean")["tokens"].sum()
        named = ("loss_estimate", "kl_estimate")
        sums = {way: merged.of(way) for way in self.asked.ways}
        return {way: {name: some[name].sum(0) / tokens for name in named if name in some} for way, some in sums.items()}

    def _exact(self, estimated: dict[str, dict[str, Array]]) -> Removals:
        singles = single_heads(self.sites)
        if self.asked.estimate:
            columns = estimated[self.asked.ways[0]]
            order = np.argsort(-columns.get("kl_estimate", np.abs(columns["loss_estimate"])), kind="stable")
            singles = [singles[place] for place in sorted(order[: self.asked.exact or 0])]
        found = {tables.NAME: singles} if self.asked.each else {}
        if self.asked.layers:
            found[tables.LAYERS] = whole_layers(self.sites)
        if self.asked.sets:
            found[tables.SETS] = sets_named(self.asked.sets, self.lens.sites)
        return Removals(found)

    def _merged(self, folder: Path, removals: Sequence[Removal] | None) -> tables.Merged:
        merged, self.counts = tables.Merged(), Counter()
        for state, groups, counts in self.phases.count(folder, replace(self.work, removals=removals)):
            merged.add(state, groups)
            self.counts.update(counts)
        if not merged.groups:
            raise InputError("No text of this corpus could be read: there is nothing to count.")
        return merged

    def _save_heads(
        self,
        exact: Removals,
        place: dict[Removal, int],
        found: dict[str, dict[str, Array]],
        estimated: dict[str, dict[str, Array]],
    ) -> None:
        known = {heads[0]: place[heads] for heads in exact.by_table[tables.NAME]}
        frames = []
        for way in self.asked.ways:
            columns = {name: np.full(len(self.heads), np.nan) for name in found.get(way, {})}
            rows = [row for row, head in enumerate(self.heads) if head in known]
            for name, values in found.get(way, {}).items():
                columns[name][rows] = values[[known[self.heads[row]] for row in rows]]
            frames.append(tables.head_table(self.heads, way, columns | estimated.get(way, {})))
        save_table(self.phases.run, tables.NAME, pd.concat(frames, ignore_index=True))

    def _save_curve(self) -> tables.Merged | None:
        if self.asked.curve is None:
            return None
        run = self.phases.run
        order = order_by(self.asked.curve, self.ordering or self._one_way(), self.sites)
        steps = curve(order)
        merged = self._merged(run / "curve", steps)
        frames = [tables.curve_table(steps, way, self.asked.curve, tables.effects(merged, way)) for way in self.asked.ways]
        save_table(run, tables.CURVE, pd.concat(frames, ignore_index=True))
        return merged

    def _one_way(self) -> Run:
        """This run so far, with a row a head: that of the first way."""
        own = Run(self.phases.run, self.phases.manifest)
        found = own[tables.NAME]
        one = Run.of({tables.NAME: found[found["how"] == self.asked.ways[0]]}, self.phases.manifest)
        one.folder = own.folder  # for what is said of it
        return one

    def _finish(self, merged: tables.Merged | None) -> Run:
        phases = self.phases
        about = describe(len(merged.groups) if merged else 0, phases.common["group_size"])
        manifest = {
            **phases.manifest, "finished": True, "counts": dict(self.counts), "shards": phases.shards, "intervals": about,
            "clean": self._clean(merged),
        }  # fmt: skip
        save_manifest(phases.run, manifest)
        run = Run(phases.run, manifest)
        for line in warnings_of(run):
            phases.progress.say(line)
        return run

    def _clean(self, merged: tables.Merged | None) -> dict[str, Any]:
        """What the model does with all its heads."""
        if merged is None:
            return {}
        sums = merged.clean
        found = {"predicted": sums["tokens"]}
        if has_words(self.lens):
            found |= {"loss": sums["loss"] / sums["tokens"], "loss_of_guessing": math.log(width_of(self.lens))}
        return found


def warnings_of(run: Run) -> list[str]:
    """What a reader of the tables should know first."""
    clean, said = run.manifest.get("clean", {}), []
    loss, guessing = clean.get("loss"), clean.get("loss_of_guessing")
    if loss is not None and loss > STRANGE * guessing:
        said.append(
            f"The model's own loss on this text is {loss:.2f} nats a token, and guessing would be {guessing:.2f}: the text "
            "is not of the kind that it was trained for, and what heads do here may say little of what they do elsewhere."
        )
    table = run.get(tables.NAME)
    if table is not None and "largest_text" in table and run.manifest["counts"]["documents"] >= 4:
        main = "kl" if "kl" in table else "states"
        carried = table[(table["rank"] <= 10) & (table["largest_text"] > 0.5) & table[main].notna()]
        for row in carried.to_dict("records"):
            said.append(
                f"{row['largest_text']:.0%} of the effect of {row['stack']} {row['kind']} {row['layer']}.{row['head']} "
                f"({row['how']}) comes from one text."
            )
    return said
