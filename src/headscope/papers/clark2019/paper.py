"""Every table and figure of clark2019 for one model: the sections in the paper's order, each where its data is given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

from headscope import probes
from headscope.errors import ModelError
from headscope.heads.relations import best_relation_heads
from headscope.later import pd
from headscope.lens.tokens.encoder import AS_WRITTEN, BY_WORD, Encoding
from headscope.lens.tokens.losses import own_loss
from headscope.papers.clark2019 import claims, clustering, facts, maps, surface, tables
from headscope.papers.clark2019.surface import EdgeTokens
from headscope.papers.options import (
    BY_WORD_HELP,
    KEEP_MARKS,
    TEXT_FORMAT,
    UNIT,
    option,
    segments,
    setting_of,
    trees,
    with_mentions,
)
from headscope.papers.paper import Paper, Section
from headscope.statistics import Antecedents, BeyondSinks, Importance, JensenShannon, Relations, Statistic, setting
from headscope.statistics.kit.text_means import Averaged
from headscope.statistics.words.relation_cases import cases_of
from headscope.study import Run
from headscope.study.results.result import Claim, Result
from headscope.study.results.workspace import Unsuitable
from headscope.study.tables import main_stack
from headscope.text import Corpus, Document, windows


@dataclass(frozen=True)
class Data:
    """What the sections read; what is None leaves its sections out."""

    text: Corpus | None = option(
        None, "Plain text: figures 1 to 4 and 6.", made=segments, text_format=TEXT_FORMAT, keep_marks=KEEP_MARKS
    )
    treebank: Corpus | None = option(None, "A treebank (CoNLL-U): tables 1 and 3, figure 5.", made=trees, unit=UNIT)
    train: Corpus | None = option(
        None, "What probes learn from. Default: four fifths of the treebank.", made=trees, unit=UNIT
    )
    coreference: Corpus | None = option(
        None, "Mentions and clusters (CoNLL-2012, OntoGUM, LitBank, CorefUD): table 2.", made=with_mentions
    )
    vectors: Path | None = option(None, "GloVe vectors: those probes of table 3 that read words.")


@dataclass(frozen=True)
class Settings:
    """What changes the numbers."""

    measure: str = option("weight", "What is read: weight, as in the paper, or norm.", "-m", "--measure")
    segments: int = option(1000, "Segments of the text to read.", least=1)
    max_tokens: int = option(128, "Tokens of a segment, and of a window for coreference.", least=8)
    by_word: bool = option(False, BY_WORD_HELP, "--by-word")
    train_sentences: int | None = option(None, "At most so many sentences to train on.", least=10)
    twin: bool = option(True, "Also measure the model's randomly initialised twin.")
    seed: int = option(0, "For masking, the twin, the probes and the scatter plot.")
    means: str = setting_of(Averaged, "means")
    clitics: bool = setting_of(Relations, "clitics")
    subtypes: bool = setting_of(Relations, "subtypes")
    variant: str = setting(
        "paper", one_of=("paper", "code"), help="code: table 1 and figure 6 as the released code has them."
    )
    candidates: str = setting_of(Antecedents, "candidates")
    singletons: bool = setting(False, help="Keep mentions that corefer with nothing, which CoNLL-2012 leaves out.")

    @property
    def relations(self) -> Relations:
        return Relations(measure=self.measure, variant=self.variant, clitics=self.clitics, subtypes=self.subtypes)

    @property
    def antecedents(self) -> Antecedents:
        return Antecedents(measure=self.measure, candidates=self.candidates)

    @property
    def divergence(self) -> JensenShannon:
        return JensenShannon(measure=self.measure, variant=self.variant)

    def one_pass(self) -> list[Statistic]:
        """What is counted over the text: for sections 3 and 6, and for what a report on the run says of each head."""
        return [*surface.one_pass(self.measure, self.means), self.divergence, BeyondSinks(measure=self.measure)]


class Clark2019(Paper[Data, Settings]):
    """What BERT looks at, by Clark et al (2019).

    Surface patterns, syntax, coreference, probes and clusters of heads.

    What has no data is left out, and said. Run the same command again to go on after an interruption.
    """

    name, title, model = "clark2019", facts.TITLE, facts.MODEL
    data_type, settings_type = Data, Settings
    examples = (
        "headscope paper clark2019 bert-base-uncased --text wiki.txt -o run",
        "headscope paper clark2019 bert-base-uncased --text wiki.txt --treebank dev.conllu --train train.conllu\n"
        '--coreference "litbank/*.ann" --vectors glove.6B.100d.txt -o run',
        "headscope paper clark2019 gpt2 --text wiki.txt --treebank dev.conllu --measure norm -o run",
    )

    @classmethod
    def check(cls, settings: Settings) -> None:
        settings.one_pass()
        _ = settings.relations, settings.antecedents

    # Section 3

    @cached_property
    def tokens(self) -> EdgeTokens:
        return EdgeTokens(self.lens)

    @cached_property
    def segments(self) -> Corpus:
        assert self.data.text is not None
        return self.data.text.take(self.settings.segments)

    @cached_property
    def text(self) -> Run:
        tokens = self.at_most(self.settings.max_tokens)
        return self.study("text", self.segments, self.settings.one_pass(), max_tokens=tokens)

    @cached_property
    def shares(self) -> pd.DataFrame:
        return surface.head_shares(self.text, self.settings.measure, self.settings.means)

    def figures124(self) -> list[Result]:
        return surface.results(self.shares, self.tokens)

    def figure1_maps(self) -> list[Result]:
        return [maps.figure1(self.shares, self.tokens, self.segments, self.lens, self.settings.measure)]

    def figure3(self) -> list[Result]:
        try:
            own_loss(self.lens)
        except ModelError as error:
            raise Unsuitable(str(error)) from error
        if self.lens.is_encoder_decoder:
            raise Unsuitable("an encoder-decoder predicts a target, and a plain text has none.")
        statistic = Importance(seed=self.settings.seed)
        tokens = self.at_most(self.settings.max_tokens)
        counted = self.study("importance", self.segments, [statistic], max_tokens=tokens)
        return [surface.figure3(counted[statistic], self.tokens)]

    # Section 4

    @property
    def encoding(self) -> Encoding:
        """Of what has words: treebanks and coreference."""
        return BY_WORD if self.settings.by_word else AS_WRITTEN

    def _with_twin(self, part: str, corpus: Corpus, statistic: Statistic) -> tuple[pd.DataFrame, pd.DataFrame | None]:
        """The table of the model, and of the model with random weights, where that is wanted."""
        ours = self.study(part, corpus, [statistic], encoding=self.encoding)[statistic]
        if not self.settings.twin:
            return ours, None
        with self.lens.twin(self.settings.seed) as twin:
            return ours, self.study(f"{part}-twin", corpus, [statistic], twin, encoding=self.encoding)[statistic]

    @cached_property
    def relations(self) -> tuple[pd.DataFrame, pd.DataFrame | None] | None:
        """None without a treebank."""
        if self.data.treebank is None:
            return None
        return self._with_twin("treebank", self.data.treebank, self.settings.relations)

    @cached_property
    def best_heads(self) -> pd.DataFrame | None:
        return None if self.relations is None else best_relation_heads(self.relations[0])

    @cached_property
    def windows(self) -> list[Document]:
        """All documents with coreference, cut to what the model reads at once."""

        def length_of(document: Document) -> int:
            return len(self.lens.encoder.encode(document, encoding=self.encoding).source)

        given, tokens = self.data.coreference or (), self.at_most(self.settings.max_tokens)
        cut = partial(windows, length_of=length_of, max_tokens=tokens, singletons=self.settings.singletons)
        return [part for document in given for part in cut(document)]

    @cached_property
    def rules(self) -> pd.DataFrame:
        return probes.antecedent_rules(self.windows)

    @cached_property
    def antecedents(self) -> tuple[pd.DataFrame, pd.DataFrame | None] | None:
        """None where no mention has an antecedent."""
        if not self.rules["cases_all"].any():
            return None
        assert self.data.coreference is not None
        cut = self.data.coreference.choose(self.windows, unit="window")
        return self._with_twin("coreference", cut, self.settings.antecedents)

    def table1(self) -> list[Result]:
        assert self.relations is not None
        return [tables.table1(*self.relations)]

    def table2(self) -> list[Result]:
        if self.antecedents is None:
            raise Unsuitable("no mention in these documents has an antecedent before it in the same window.")
        tokens = self.at_most(self.settings.max_tokens)
        return [tables.table2(*self.antecedents, self.rules, tokens, self.settings.singletons)]

    def figure5(self) -> list[Result]:
        antecedents = self.antecedents and self.antecedents[0]
        found = (self.best_heads, self.data.treebank, antecedents, self.windows)
        cases = partial(cases_of, clitics=self.settings.clitics, subtypes=self.settings.subtypes)
        return [maps.figure5(*found, self.lens, self.settings.measure, self.encoding, cases)]

    # Sections 5 and 6

    def table3(self) -> Iterator[Result]:
        data, settings = self.data, self.settings
        train, test = (data.treebank, None) if data.train is None else (data.train, data.treebank)
        try:
            compared = probes.probe(
                self.lens,
                train,
                test,
                vectors=data.vectors,
                seed=settings.seed,
                cache=self.workspace.folder / "parts" / "maps",
                max_sentences=settings.train_sentences,
                measure=settings.measure,
                truncate=True,
                encoding=self.encoding,
                progress=self.workspace.progress,
            )
        except probes.TooFew as error:
            raise Unsuitable(str(error)) from error
        yield tables.table3(compared)
        if data.vectors is None:
            said = "Of table 3 (section 5) only the probes that read words: there are no vectors (--vectors)."
            self.workspace.left_out.append(said)

    @cached_property
    def divergence(self) -> pd.DataFrame:
        return main_stack(self.text[self.settings.divergence])

    def figure6(self) -> list[Result]:
        """It marks what the other sections have found."""
        antecedents = self.antecedents and self.antecedents[0]
        found = clustering.behaviours(surface.patterns(self.shares), self.best_heads, antecedents)
        return [clustering.figure6(self.divergence, found, self.settings.seed)]

    sections = (
        Section("Figures 1, 2 and 4 (section 3)", ["text"], figures124),
        Section("Figure 1 (example maps)", ["text"], figure1_maps),
        Section("Figure 3 (gradients)", ["text"], figure3, of=["importance"]),
        Section("Table 1 (section 4.2)", ["treebank"], table1),
        Section("Table 2 (section 4.3)", ["coreference"], table2),
        Section("Figure 5 (example maps)", ["treebank", "coreference"], figure5),
        Section("Table 3 (section 5)", ["treebank"], table3),
        Section("Figure 6 (section 6)", ["text"], figure6, of=["text", "treebank", "coreference"]),
    )

    def claims(self) -> list[Claim]:
        made = claims.of_surface(self.shares, self.tokens) if self.data.text is not None else []
        made += claims.of_syntax(self.relations[0]) if self.relations is not None else []
        return made + (claims.of_clusters(self.divergence) if self.data.text is not None else [])

    def opening(self, claims: Sequence[Claim]) -> list[str]:
        heads = sum(site.heads for site in self.lens.sites)
        return [
            f"Made by `headscope paper clark2019` for {self.lens.name} ({len(self.lens.sites)} attentions, {heads} heads), "
            f"read by {self.settings.measure}.",
            "Tables in Parquet count layers and heads from 0, as everywhere in headscope. What is printed here follows the "
            "paper: layer-head, from 1.",
        ]
