"""kobayashi2020 for one model: everything in one pass over a text, and section 5 in one over sentence pairs."""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import ClassVar

from headscope.errors import InputError
from headscope.lens.lens import Lens
from headscope.papers.kobayashi2020 import facts, lengths
from headscope.papers.kobayashi2020.alignment.aligners import aligners_of
from headscope.papers.kobayashi2020.alignment.claims import claims as claims_of_pairs
from headscope.papers.kobayashi2020.alignment.sections import Alignments
from headscope.papers.kobayashi2020.claims import claims, not_shown
from headscope.papers.kobayashi2020.sections import Analysis
from headscope.papers.kobayashi2020.settings import Data, Settings, one_pass
from headscope.papers.paper import Paper, Section
from headscope.statistics import EffectiveByLength
from headscope.statistics.kit.categories import parse_categories
from headscope.statistics.norms.frequencies import Frequencies
from headscope.study.results.result import Claim, Result
from headscope.text import Corpus

FREQUENCY = "frequency.txt"  # in the run directory, where no file was given


def _of_text(makes: str, make: Callable[[Analysis], Iterable[Result]]) -> Section:
    return Section(makes, ("text",), lambda paper: make(paper.analysis))


def _of_pairs(makes: str, make: Callable[[Alignments], Iterable[Result]]) -> Section:
    return Section(makes, ("parallel",), lambda paper: make(paper.alignments), of=("alignment",))


class Kobayashi2020(Paper[Data, Settings]):
    """Attention is not only a weight, by Kobayashi et al (2020).

    Norms of vectors, by head, category of token, frequency and length; alignments.

    Run the same command again to go on after an interruption.
    """

    name, title = "kobayashi2020", facts.TITLE
    shard_of_lengths: ClassVar[int] = 128  # documents: a batch has texts of about one length, of which a few texts have few
    data_type, settings_type = Data, Settings
    examples = (
        "headscope paper kobayashi2020 bert-base-uncased --text wiki.txt -o run",
        "headscope paper kobayashi2020 bert-base-uncased --text wiki.txt --frequency bert-uncased-rank-count-id.txt -o run",
        'headscope paper kobayashi2020 gpt2 --text wiki.txt --category "articles=a an the" '
        '--category "numbers=/[0-9]+/" -o run',
        "headscope paper kobayashi2020 Helsinki-NLP/opus-mt-fr-en --parallel pairs.txt --gold gold.txt --gold-base 1 -o run",
    )
    sections = (
        _of_text("Table 1 (section 4.1)", Analysis.table1),
        _of_text("Figure 3 (section 4.2)", Analysis.figure3),
        _of_text("Table 2 (section 4.2)", Analysis.table2),
        _of_text("Figure 4 (section 4.2)", partial(Analysis.heat_map, number=4, name="separator")),
        _of_text("Figure 10 (section 4.2)", partial(Analysis.heat_map, number=10, name="first")),
        _of_text("Figure 11 (section 4.2)", partial(Analysis.heat_map, number=11, name="punctuation")),
        _of_text("Figure 12 (section 4.2)", partial(Analysis.heat_map, number=12, name="other")),
        _of_text("Your own categories", Analysis.own_categories),
        _of_text("Figures 5 and 13 (section 4.2)", Analysis.scatters),
        _of_text("Figures 14 and 15 (section 4.3)", Analysis.frequency),
        _of_text("The joint norm (appendix A)", Analysis.joint),
        _of_text("Table 4 (appendix B)", Analysis.table4),
        _of_text("Figure 9 (appendix B)", Analysis.figure9),
        _of_text("Figure 25 (appendix G)", Analysis.figure25),
        _of_text("The mixing ratio", Analysis.mixing),
        _of_pairs("Tables 3 and 6 (section 5.2)", Alignments.table3),
        _of_pairs("Figures 16 and 24 (appendix E.3)", Alignments.figure16),
        _of_pairs("Error rates as lines", Alignments.lines),
        _of_pairs("Figures 8 and 23 (section 5.3)", Alignments.figure8),
        _of_pairs("Figure 7 (section 5.2)", Alignments.figure7),
        _of_pairs("Figures 17 to 22 (appendix E.4)", Alignments.figures17),
    )

    @classmethod
    def check(cls, settings: Settings) -> None:
        parse_categories(settings.categories or {})

    @classmethod
    def settled(cls, lens: Lens, settings: Settings) -> Settings:
        if not any(site.has_norms for site in lens.sites):
            raise InputError(f"{lens.name} has no norms: no output projection was found; headscope doctor says why.")
        if not any(site.has_value_norms for site in lens.sites):
            raise InputError(
                f"{lens.name} gates what its heads bring, so ||f(x)|| is not a number of a token as in this paper; "
                "headscope study gives its norms."
            )
        return settings

    @cached_property
    def analysis(self) -> Analysis:
        """Section 4 and appendices A to D and G."""
        assert self.data.text is not None
        tokens, segments = self.at_most(self.settings.max_tokens), self.data.text.take(self.settings.segments)
        statistics = one_pass(self.settings, self._frequency(self.data.text))
        counted = self.study("text", segments, statistics, max_tokens=tokens)
        cut = lengths.CutAtLengths(lengths.up_to(tokens))
        every = self.settings.every
        some = segments if every == 1 else segments.choose(cut.spread(segments, every))
        size = self.shard_of_lengths
        by_length = self.study("lengths", some, [EffectiveByLength(every=1)], encoding=cut, shard_size=size)
        return Analysis(counted, by_length, self.lens, self.settings.categories or {}, self.settings.seed)

    def _frequency(self, text: Corpus) -> Path:
        """What was given, or the counts of the whole text, written once into the run directory."""
        if self.data.frequency is not None:
            return self.data.frequency
        path = self.workspace.folder / FREQUENCY
        if not path.is_file():
            Frequencies.count(self.lens.tokenizer, text).write(path)
        return path

    @cached_property
    def alignments(self) -> Alignments:
        """Section 5 and appendices E and F."""
        assert self.data.parallel is not None
        aligners = aligners_of(self.workspace, self.data, self.batch_size)
        return Alignments(aligners, self.lens, self.data.parallel, self.data.sentences)

    @property
    def model(self) -> str:
        theirs = ((self.data.text, facts.MODEL), (self.data.parallel, facts.TRANSLATOR))
        return "; ".join(model for data, model in theirs if data is not None)

    def claims(self) -> list[Claim]:
        of_text = claims(self.analysis) if self.data.text is not None else []
        return of_text + (claims_of_pairs(self.alignments) if self.data.parallel is not None else [])

    def opening(self, claims: Sequence[Claim]) -> list[str]:
        theirs, of = [], []
        if self.data.text is not None:
            theirs.append(f"The paper's model is {facts.MODEL}, its data {facts.TEXT}.")
            of.append("BERT")
        if self.data.parallel is not None:
            theirs.append(f"The paper's translation model is {facts.TRANSLATOR}, its data {facts.PAIRS}.")
            of.append("translation models")
        verdict = f"This model shows everything that is claimed there of {' and '.join(of)}."
        if lacking := not_shown(claims):
            lines = [f"- {line.replace('<', '&lt;')}" for line in lacking]  # Markdown would take </s> for a tag
            verdict = "\n".join([f"What the paper found in {' and '.join(of)} and this model does not show:", "", *lines])
        return [
            f"Made by `headscope paper kobayashi2020` for {self.lens.name}. {' '.join(theirs)} "
            "What is printed here counts layers and heads from 1, as the paper does; Parquet tables from 0.",
            verdict,
        ]
