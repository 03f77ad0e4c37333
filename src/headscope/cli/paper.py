"""`headscope paper PAPER MODEL ... -o RUN`: every table and figure of a paper, for any model."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal, cast

import typer

from headscope.alignment.gold import with_gold
from headscope.alignment.link_files import Side
from headscope.cli.gold_options import FirstSide, Gold, GoldBase, GoldFirst, GoldFormat
from headscope.errors import InputError
from headscope.lens import open as open_lens
from headscope.lens.lens import Lens
from headscope.papers import clark2019 as papers_clark2019
from headscope.papers import kobayashi2020 as papers_kobayashi2020
from headscope.papers import vig2019 as papers_vig2019
from headscope.progress import Bar
from headscope.study import Run
from headscope.text import Annotator, Corpus
from headscope.text.parallel import parallel_documents

paper = typer.Typer(
    help="Every table and figure of a paper, for any model, with the paper's own numbers beside.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)

Model = Annotated[str, typer.Argument(help="A hub id, a folder with a saved model, or a GGUF file.")]
Output = Annotated[Path, typer.Option("-o", "--output", help="The run directory; an unfinished run there goes on.")]
Measure = Annotated[str, typer.Option("-m", "--measure", help="What is read: weight, as in the paper, or norm.")]
TextFormat = Annotated[
    str | None, typer.Option(help="How the text is cut. Default: paragraph-pairs, or paragraphs for a decoder.")
]
BatchSize = Annotated[int, typer.Option(min=1, help="Texts at a time.")]
AsJson = Annotated[bool, typer.Option("--json", help="Say where the output is, and what was left out, as JSON.")]
TrustRemoteCode = Annotated[bool, typer.Option(help="Run code that comes with the model. Read it first.")]


@paper.command()
def clark2019(
    model: Model,
    output: Output,
    text: Annotated[list[str] | None, typer.Option(help="Plain text: sections 3 and 6, figures 1 to 4 and 6.")] = None,
    treebank: Annotated[
        list[str] | None, typer.Option(help="A treebank (CoNLL-U): table 1, and what the probes are tested on (table 3).")
    ] = None,
    train: Annotated[
        list[str] | None, typer.Option(help="What the probes are trained on. Default: four fifths of the treebank.")
    ] = None,
    coreference: Annotated[
        list[str] | None, typer.Option(help="Mentions and clusters (CoNLL-2012 or LitBank): table 2.")
    ] = None,
    vectors: Annotated[Path | None, typer.Option(help="GloVe vectors: those probes of table 3 that read words.")] = None,
    measure: Measure = "weight",
    segments: Annotated[int, typer.Option(min=1, help="Segments of the text to read.")] = 1000,
    limit: Annotated[int, typer.Option(min=8, help="Tokens of a segment, and of a window for coreference.")] = 128,
    text_format: TextFormat = None,
    train_sentences: Annotated[int | None, typer.Option(min=10, help="At most so many sentences to train on.")] = None,
    twin: Annotated[
        bool, typer.Option("--twin/--no-twin", help="Also measure the model's randomly initialised twin.")
    ] = True,
    seed: Annotated[int, typer.Option(help="For masking, the twin, the probes and the scatter plot.")] = 0,
    batch_size: BatchSize = 16,
    as_json: AsJson = False,
    trust_remote_code: TrustRemoteCode = False,
) -> None:
    """What does BERT look at? Surface patterns, syntax, coreference, probes and clusters of heads.

    What has no data is left out, and said. Run the same command again to go on after an interruption.

    [bold]Examples[/bold]

      headscope paper clark2019 bert-base-uncased --text wiki.txt -o run

      headscope paper clark2019 bert-base-uncased --text wiki.txt --treebank dev.conllu --train train.conllu
      --coreference "litbank/*.ann" --vectors glove.6B.100d.txt -o run

      headscope paper clark2019 gpt2 --text wiki.txt --treebank dev.conllu --measure norm -o run
    """
    if not any((text, treebank, coreference)):
        raise InputError("There is nothing to read: give at least one of --text, --treebank and --coreference.")
    with open_lens(model, trust_remote_code=trust_remote_code) as lens, Bar(quiet=as_json) as bar:
        run = papers_clark2019.run(
            lens,
            output,
            papers_clark2019.Data(
                text=_corpus(text, _text_format(lens, text_format)),
                treebank=_corpus(treebank),
                train=_corpus(train),
                coreference=_corpus(coreference),
                vectors=vectors,
            ),
            papers_clark2019.Settings(
                measure=measure, segments=segments, limit=limit, train_sentences=train_sentences, twin=twin, seed=seed
            ),
            batch_size=batch_size,
            progress=bar,
        )
    _tell(run, as_json)


@paper.command()
def vig2019(
    model: Model,
    output: Output,
    treebank: Annotated[
        list[str] | None, typer.Option(help="A treebank (CoNLL-U), with parts of speech and dependencies.")
    ] = None,
    text: Annotated[
        list[str] | None, typer.Option(help="Plain text, to be annotated: every sentence is read by itself.")
    ] = None,
    annotate: Annotated[str | None, typer.Option(help="What annotates the text: spacy:PIPELINE.")] = None,
    measures: Annotated[
        list[str] | None, typer.Option("-m", "--measure", help="weight, norm, ...; may be repeated. Default: weight.")
    ] = None,
    null: Annotated[
        bool | None,
        typer.Option("--leave-out-first/--keep-first", help="Attention to the first token. Default: left out for decoders."),
    ] = None,
    words: Annotated[bool, typer.Option("--words", help="Count in words instead of the tokenizer's pieces.")] = False,
    positions: Annotated[int, typer.Option(min=2, help="First positions that variability looks at.")] = 10,
    sentences: Annotated[int | None, typer.Option(min=1, help="At most so many sentences of each.")] = None,
    exemplars: Annotated[int, typer.Option(min=1, help="Exemplars a head.")] = 5,
    batch_size: BatchSize = 16,
    as_json: AsJson = False,
    trust_remote_code: TrustRemoteCode = False,
) -> None:
    """The structure of attention in a language model: parts of speech, dependencies, distance, exemplars.

    Run the same command again to go on after an interruption.

    [bold]Examples[/bold]

      headscope paper vig2019 gpt2 --treebank dev.conllu -o run

      headscope paper vig2019 gpt2 --text wiki.txt --annotate spacy:en_core_web_sm -m weight -m norm -o run
    """
    if not any((text, treebank)):
        raise InputError("There is nothing to read: give --treebank, or --text with --annotate spacy:PIPELINE.")
    if text and annotate is None:
        raise InputError(
            "The text has no parts of speech: give --annotate spacy:PIPELINE, for example spacy:en_core_web_sm."
        )
    annotated = _corpus(text, "paragraphs")
    if annotated is not None and annotate is not None:
        annotated = annotated.annotated(Annotator.of(annotate, unit="sentence"))
    with open_lens(model, trust_remote_code=trust_remote_code) as lens, Bar(quiet=as_json) as bar:
        run = papers_vig2019.run(
            lens,
            output,
            papers_vig2019.Data(treebank=_corpus(treebank), text=annotated),
            papers_vig2019.Settings(
                measures=tuple(measures or ["weight"]),
                without_first=null,
                words=words,
                positions=positions,
                sentences=sentences,
                exemplars=exemplars,
            ),
            batch_size=batch_size,
            progress=bar,
        )
    _tell(run, as_json)


@paper.command()
def kobayashi2020(
    model: Model,
    output: Output,
    text: Annotated[list[str] | None, typer.Option(help="Plain text; may be repeated.")] = None,
    frequency: Annotated[
        Path | None,
        typer.Option(help="Lines of `rank count id`, one a piece of the tokenizer. Default: the text is counted."),
    ] = None,
    category: Annotated[
        list[str] | None,
        typer.Option(help="A category of your own, NAME=RULE: tokens with spaces between, or /a regular expression/."),
    ] = None,
    segments: Annotated[int, typer.Option(min=1, help="Segments of the text to read.")] = 992,
    limit: Annotated[int, typer.Option(min=8, help="Tokens of a segment.")] = 128,
    text_format: TextFormat = None,
    seed: Annotated[int, typer.Option(help="For the pairs and heads that are drawn by lot.")] = 0,
    parallel: Annotated[
        Path | None, typer.Option(help="Sentence pairs for a translation model (section 5): `src ||| tgt`, or the source.")
    ] = None,
    parallel_target: Annotated[Path | None, typer.Option(help="The target, where --parallel has the source only.")] = None,
    parallel_first: FirstSide = "source",
    gold: Gold = None,
    gold_format: GoldFormat = "auto",
    gold_base: GoldBase = None,
    gold_first: GoldFirst = "source",
    also: Annotated[
        list[str] | None, typer.Option(help="A further seed or checkpoint for section 5: means and deviations.")
    ] = None,
    sentences: Annotated[
        str | None, typer.Option(help="Pairs to draw, from 1: 3,17. Default: one of 8 to 14 words.")
    ] = None,
    gradient: Annotated[
        int, typer.Option(min=0, help="Also align by gradients (SmoothGrad) over so many noisy copies, such as 30; slow.")
    ] = 0,
    eflomal: Annotated[bool, typer.Option("--eflomal", help="Also align by eflomal, if it is installed.")] = False,
    batch_size: BatchSize = 16,
    as_json: AsJson = False,
    trust_remote_code: TrustRemoteCode = False,
) -> None:
    """Attention is not only a weight: norms of vectors, by head, category of token, frequency and length; alignments.

    Run the same command again to go on after an interruption.

    [bold]Examples[/bold]

      headscope paper kobayashi2020 bert-base-uncased --text wiki.txt -o run

      headscope paper kobayashi2020 bert-base-uncased --text wiki.txt --frequency bert-uncased-rank-count-id.txt -o run

      headscope paper kobayashi2020 gpt2 --text wiki.txt --category "articles=a an the" --category "numbers=/[0-9]+/" -o run

      headscope paper kobayashi2020 Helsinki-NLP/opus-mt-fr-en --parallel pairs.txt --gold gold.txt --gold-base 1 -o run
    """
    if not text and parallel is None:
        raise InputError("There is nothing to read: give --text FILE, or --parallel FILE with --gold FILE.")
    categories = _categories(category or [])
    pairs = None
    if parallel is not None:
        if gold is None:
            raise InputError("--parallel needs gold links to compare alignments with: give --gold FILE too.")
        corpus = parallel_documents(parallel, parallel_target, first=cast(Side, parallel_first))
        form = cast(Literal["auto", "pharaoh", "naacl"], gold_format)
        corpus = with_gold(corpus, gold, format=form, base=gold_base, first=cast(Side, gold_first))
        others = _opened(also or [], trust_remote_code)
        pairs = papers_kobayashi2020.Pairs(corpus, others, _line_numbers(sentences), gradient, eflomal)
    elif any((parallel_target, gold, also, sentences, gradient, eflomal)):
        raise InputError("Alignments need sentence pairs: give --parallel FILE too.")
    with open_lens(model, trust_remote_code=trust_remote_code) as lens, Bar(quiet=as_json) as bar:
        run = papers_kobayashi2020.run(
            lens,
            output,
            papers_kobayashi2020.Data(text=_corpus(text, _text_format(lens, text_format)), frequency=frequency, pairs=pairs),
            papers_kobayashi2020.Settings(segments=segments, limit=limit, categories=categories, seed=seed),
            batch_size=batch_size,
            progress=bar,
        )
    _tell(run, as_json)


def _categories(given: list[str]) -> dict[str, str]:
    """`NAME=RULE`, in the order given."""
    found: dict[str, str] = {}
    for one in given:
        name, equals, rule = (part.strip() for part in one.partition("="))
        if not (name and equals and rule):
            raise InputError(f'--category {one!r} is not NAME=RULE, for example "articles=a an the" or "numbers=/[0-9]+/".')
        if name in found:
            raise InputError(f"The category {name!r} is given twice: put all its tokens into one --category.")
        found[name] = rule
    return found


def _opened(models: list[str], trust_remote_code: bool) -> Iterator[Lens]:
    """One model after another, each closed before the next: only one more is in memory at a time."""
    for model in models:
        with open_lens(model, trust_remote_code=trust_remote_code) as lens:
            yield lens


def _line_numbers(given: str | None) -> list[int]:
    try:
        return [int(number) for number in (given or "").split(",") if number.strip()]
    except ValueError:
        raise InputError(f"--sentences {given!r} are no numbers with commas between, such as 3,17.") from None


def _text_format(lens: Lens, asked: str | None) -> str:
    """What was asked for, or pairs of paragraphs, as in the papers; single ones for decoders."""
    return asked or ("paragraph-pairs" if lens.sites[0].stack == "encoder" else "paragraphs")


def _corpus(paths: list[str] | None, format: str | None = None) -> Corpus | None:
    return Corpus.from_files(*paths, format=format) if paths else None


def _tell(run: Run, as_json: bool) -> None:
    page = run.folder / run.manifest["page"]
    left_out = run.manifest["left_out"]
    if as_json:
        results = list(run.manifest["results"])
        typer.echo(json.dumps({"run": str(run.folder), "page": str(page), "results": results, "left_out": left_out}))
        return
    for name, title in run.manifest["results"].items():
        typer.echo(f"  {name:24} {title}")
    for line in left_out:
        typer.echo(f"Left out: {line}")
    typer.echo(f"Everything on one page: {page}")
    typer.echo(
        f"Tables (Parquet, Markdown, LaTeX) in {run.folder / 'tables'}, figures (SVG, PDF) in {run.folder / 'figures'}."
    )
