"""Which heads or layer of a model the links are read from: surveyed, then chosen or weighed as it was asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from headscope.alignment.aligner import Aligner
from headscope.alignment.anchors import SOME, anchored, by_anchors
from headscope.alignment.choice import Choice, highest_norm, lowest_aer
from headscope.alignment.head_set import MOST, HeadSet, by_agreement
from headscope.alignment.linking import link
from headscope.alignment.rules import Asked
from headscope.alignment.states import StateLayer, agreement_by_layer, most_agreeing
from headscope.alignment.tables import agreements, error_tables, mean_norms, survey
from headscope.alignment.tuned_heads import TunedHeads
from headscope.alignment.tuning import tune
from headscope.later import pd
from headscope.lens.lens import Lens
from headscope.lens.tokens.encoder import BY_WORD
from headscope.lens.tokens.prompts import Prompt
from headscope.statistics.alignment.scores import alignment_counts, scores
from headscope.statistics.kit.resampling import Array, resampled
from headscope.study.results.workspace import Workspace
from headscope.text import Corpus, Document
from headscope.text.links import Links


@dataclass(frozen=True)
class Chosen:
    """What the links of a model are read by, and what is said of it."""

    aligner: Aligner | StateLayer
    warning: str = ""
    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    untuned: HeadSet | None = None  # what would have been chosen without gold links, where heads were tuned


@dataclass(frozen=True)
class Chooser:
    """What is the same for a model and its reverse."""

    workspace: Workspace
    asked: Asked
    gold: bool
    batch_size: int

    @property
    def prompt(self) -> Prompt | None:
        return None if self.asked.prompt is None else Prompt(self.asked.prompt)

    def choose(self, lens: Lens, part: str, corpus: Corpus, tuned: Sequence[Document] = ()) -> Chosen:
        """By a survey of `corpus` that is kept in parts/`part`, and the gold links of `tuned` where there are some."""
        if self.asked.by == "states":
            return self._states(lens, corpus)
        asked, tables = self.asked, self._survey(lens, part, corpus)
        if asked.weights is not None:
            return Chosen(TunedHeads.load(asked.weights), tables=tables)
        if asked.heads_together:
            choose = by_agreement if self.prompt is None else by_anchors
            most = 1 if asked.by_head else MOST
            heads = choose(tables["head_agreements"], measure=asked.measure, setting=asked.setting, most=most)
            return self._tuned(lens, tuned, heads, tables) if tuned else Chosen(heads, heads.warning, tables)
        if asked.layer is not None:
            return Chosen(Choice(asked.layer, asked.head, asked.measure, asked.one_setting), tables=tables)
        if asked.by == "norm":
            means, setting = tables["mean_norms"], asked.one_setting
            return Chosen(highest_norm(means, heads=asked.by_head, measure=asked.measure, setting=setting), tables=tables)
        return Chosen(lowest_aer(tables["aer_heads" if asked.by_head else "aer_layers"], column="aer_half_0"), tables=tables)

    def _states(self, lens: Lens, corpus: Corpus) -> Chosen:
        table = agreement_by_layer(lens, list(corpus), batch_size=self.batch_size)
        layer = most_agreeing(table) if self.asked.layer is None else StateLayer(self.asked.layer)
        return Chosen(layer, tables={"state_layers": table})

    def _survey(self, lens: Lens, part: str, corpus: Corpus) -> dict[str, pd.DataFrame]:
        """aer_layers and aer_heads where there are gold links, head_agreements where asked for, mean_norms in any case.

        Nothing, where weights are given and there is nothing to compare them with.
        """
        if self.asked.weights is not None and not self.gold:
            return {}
        measure, counts = self.asked.measure, self.asked.heads_together
        counted = survey(
            self.workspace, part, corpus, lens, gold=self.gold, batch_size=self.batch_size,
            encoding=self.prompt or BY_WORD, agreement=measure if counts else "",
        )  # fmt: skip
        found = {"mean_norms": mean_norms(counted), **(error_tables(counted) if self.gold else {})}
        if not counts:
            return found
        table = agreements(counted, measure)
        if self.prompt is not None:
            known = anchored(
                lens, list(corpus.take(SOME)), measure=measure, encoding=self.prompt, batch_size=self.batch_size
            )
            table = table.merge(known, on=["layer", "head", "setting"], how="left")
        return {**found, "head_agreements": table}

    def _tuned(
        self, lens: Lens, documents: Sequence[Document], untuned: HeadSet, tables: Mapping[str, pd.DataFrame]
    ) -> Chosen:
        """Tuned heads beside those that would be chosen without gold links: which are better is said, whichever it is."""
        asked, encoding = self.asked, self.prompt or BY_WORD
        tuned = tune(
            lens, documents, measure=asked.measure, setting=asked.setting, encoding=encoding, batch_size=self.batch_size
        )
        found = link(lens, documents, untuned, prompt=self.prompt, batch_size=self.batch_size)
        pairs = zip(found, documents, strict=True)
        counts = np.array([alignment_counts(links, document.alignment or Links()) for links, document in pairs])
        said, warning = compared(tuned.counts, counts)
        heads = replace(tuned.heads, why=f"{tuned.heads.why}; {said}")
        made = {**tables, "tuning": tuned.penalties, "tuned_weights": heads.table()}
        return Chosen(heads, warning, made, untuned)


def compared(tuned: Array, untuned: Array) -> tuple[str, str]:
    """Whether tuning helps, by the counts of the same pairs (pair, 4): what is said, and a warning where it harms."""
    together = np.stack([tuned, untuned], 1)
    rates = 100 * scores(together.sum(0)).aer
    ends = resampled({"counts": together}, lambda sums: {"worse": np.diff(scores(sums["counts"]).aer[..., ::-1])[..., 0]})
    low, high = (float(end) for end in ends["worse"])
    said = f"the heads that agree, untuned, have {rates[1]:.1f}"
    if high < 0:
        return said, ""
    if low > 0:
        return said, (
            f"Tuning harms on the pairs that it was given: AER {rates[0]:.1f} with each left out in turn, {rates[1]:.1f} by "
            "the heads that agree, which need no gold links. Leave --tune out."
        )
    return f"{said}, and these pairs are too few to tell which is better", ""
