"""Every corpus analysis of vig2019 for one model: one pass for all of them, and a second for variability."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from headscope.lens.lens import Lens
from headscope.papers.paper import Paper, Section
from headscope.papers.vig2019 import facts
from headscope.papers.vig2019.claims import claims
from headscope.papers.vig2019.sections import Analysis
from headscope.papers.vig2019.settings import Data, Settings, first_pass
from headscope.statistics import MeanMap, Statistic, Variability
from headscope.statistics.surface.null_attention import is_decoder_only
from headscope.study import Run
from headscope.study.results.result import Claim, Result
from headscope.study.study import load_statistic
from headscope.text import Corpus


def _of_each(make: Callable[[Analysis], Iterable[Result]]) -> Callable[[Vig2019], Iterator[Result]]:
    """A section of every corpus and measure."""
    return lambda paper: (result for analysis in paper.analyses for result in make(analysis))


class Vig2019(Paper[Data, Settings]):
    """The structure of attention, by Vig and Belinkov (2019).

    Parts of speech, dependencies, distance and exemplars, for a language model.

    Run the same command again to go on after an interruption.
    """

    name, title, model = "vig2019", facts.TITLE, facts.MODEL
    data_type, settings_type = Data, Settings
    examples = (
        "headscope paper vig2019 gpt2 --treebank dev.conllu -o run",
        "headscope paper vig2019 gpt2 --text wiki.txt --annotate spacy:en_core_web_sm -m weight -m norm -o run",
    )
    by_model = ("without_first",)
    shard_size = 128
    sections = tuple(
        Section(makes, ("treebank", "text"), _of_each(make))
        for makes, make in {
            "Figure 5 (section 5.2.3)": Analysis.null_attention,
            "Figures 6, 7, A.1 and A.2 (section 5.3.1)": Analysis.parts_of_speech,
            "Figures 8, 9 and 10 (section 5.3.2)": Analysis.dependencies,
            "Figures 11 and 12 (section 5.3.3)": Analysis.distance,
            "Tables 1 to 3 (section 5.4)": Analysis.exemplars,
        }.items()
    )

    @classmethod
    def check(cls, settings: Settings) -> None:
        first_pass(settings)

    @classmethod
    def settled(cls, lens: Lens, settings: Settings) -> Settings:
        if settings.without_first is not None:
            return settings
        return replace(settings, without_first=is_decoder_only(lens.sites))

    @cached_property
    def analyses(self) -> list[Analysis]:
        """Of each corpus and measure."""
        given = {name: corpus for name, corpus in vars(self.data).items() if corpus is not None}
        return [
            analysis
            for name, corpus in given.items()
            for analysis in self._analyses(name, corpus.take(self.settings.sentences), len(given) == 2)
        ]

    def _analyses(self, name: str, corpus: Corpus, is_one_of_two: bool) -> list[Analysis]:
        suffix = "_text" if name == "text" and is_one_of_two else ""
        how: Any = {"encoding": self.settings.encoding}
        counted = self.study(name, corpus, first_pass(self.settings), **how)
        how["max_tokens"] = self._enough()
        variability = self.study(f"{name}-variability", corpus, self._second_pass(counted), **how)
        both = counted, variability
        return [Analysis(name, corpus, self.lens, *both, self.settings, one, suffix) for one in self.settings.measures]

    def _second_pass(self, counted: Run) -> list[Statistic]:
        means = [load_statistic(counted, self.lens, self.settings.mean_map(one)) for one in self.settings.measures]
        return [Variability.of(mean) for mean in means if isinstance(mean, MeanMap)]

    def _enough(self) -> int | None:
        """A decoder's first rows do not change with what follows, so the second pass need not read on.

        Cut texts end in special tokens too, where a tokenizer adds them: these come behind the positions that count.
        """
        if self.lens.sites[0].stack != "decoder" or self.settings.level == "word":
            return None
        return self.settings.positions + int(self.lens.tokenizer.num_special_tokens_to_add())

    def claims(self) -> list[Claim]:
        return [claim for analysis in self.analyses for claim in claims(analysis)]

    def opening(self, claims: Sequence[Claim]) -> list[str]:
        filtered = "left out of everything but figure 5" if self.settings.without_first else "kept"
        return [
            f"Made by `headscope paper vig2019` for {self.lens.name}; attention to the first token is {filtered}. The "
            f"paper's model is {facts.MODEL}, its data {facts.TEXT}. Layers and heads count from 0, as there."
        ]
