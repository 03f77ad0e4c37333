"""`headscope align MODEL SOURCE [TARGET] -o RUN`: word alignments out of a translation model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal, cast

import typer

from headscope.alignment.gold import with_gold
from headscope.alignment.link_files import Side
from headscope.alignment.run import Settings
from headscope.alignment.run import align as align_corpus
from headscope.cli.gold_options import FirstSide, Gold, GoldBase, GoldFirst, GoldFormat
from headscope.lens import open as open_lens
from headscope.progress import Bar
from headscope.study import Run
from headscope.text.parallel import parallel_documents


def align(
    model: Annotated[str, typer.Argument(help="An encoder-decoder: a hub id, or a folder with a saved model.")],
    source: Annotated[Path, typer.Argument(help="Source sentences, a line each, words parted by spaces; or `src ||| tgt`.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The run directory; an unfinished run there goes on.")],
    target: Annotated[Path | None, typer.Argument(help="Their translations; not needed with `src ||| tgt`.")] = None,
    first: FirstSide = "source",
    gold: Gold = None,
    gold_format: GoldFormat = "auto",
    gold_base: GoldBase = None,
    gold_first: GoldFirst = "source",
    layer: Annotated[int | None, typer.Option(min=0, help="Take the links from this layer of the decoder.")] = None,
    head: Annotated[int | None, typer.Option(min=0, help="And from this head of it, not from all together.")] = None,
    by: Annotated[
        str, typer.Option(help="Or choose: norm (the highest average norm), aer (the lowest AER on half of the gold).")
    ] = "norm",
    heads: Annotated[bool, typer.Option("--heads", help="Choose a single head, not a layer.")] = False,
    measure: Annotated[str, typer.Option("-m", "--measure", help="norm or weight.")] = "norm",
    setting: Annotated[
        str, typer.Option(help="AWI reads the row in which a word is the decoder's input, AWO the row that predicts it.")
    ] = "AWI",
    reverse: Annotated[str | None, typer.Option(help="A model of the other direction, to join both.")] = None,
    symmetrise: Annotated[
        str, typer.Option(help="How two directions are joined: intersection, union, grow-diag-final-and.")
    ] = "grow-diag-final-and",
    prompt: Annotated[
        str | None, typer.Option(help="For a decoder-only model: a text with {source} and {target}, which it reads.")
    ] = None,
    gradient: Annotated[
        int, typer.Option(min=0, help="Also align by gradients over so many noisy copies, such as 30; takes long.")
    ] = 0,
    eflomal: Annotated[
        bool, typer.Option("--eflomal", help="Also run the statistical aligner eflomal, if it is installed.")
    ] = False,
    batch_size: Annotated[int, typer.Option(min=1, help="Pairs at a time.")] = 16,
    as_json: Annotated[bool, typer.Option("--json", help="Say where the output is, and the scores, as JSON.")] = False,
    trust_remote_code: Annotated[bool, typer.Option(help="Run code that comes with the model. Read it first.")] = False,
) -> None:
    """Which source word each target word comes from, by the norms (or weights) of a translation model's cross attention.

    With gold links, also the error rate of every layer and head. Without a layer, the one with the highest average norm
    is chosen, which needs no gold links (kobayashi2020, section 5.2).

    [bold]Examples[/bold]

      headscope align Helsinki-NLP/opus-mt-fr-en french.txt english.txt -o run

      headscope align Helsinki-NLP/opus-mt-fr-en pairs.txt --gold gold.txt --gold-base 1 --by aer -o run

      headscope align Helsinki-NLP/opus-mt-fr-en fr.txt en.txt --reverse Helsinki-NLP/opus-mt-en-fr -o run

      headscope align HuggingFaceTB/SmolLM2-135M-Instruct fr.txt en.txt --layer 15
      --prompt "French: {source} English: {target}" -o run
    """
    settings = Settings(layer, head, measure, setting, by, heads, symmetrise, prompt, gradient, eflomal)
    corpus = parallel_documents(source, target, first=cast(Side, first))
    if gold is not None:
        form = cast(Literal["auto", "pharaoh", "naacl"], gold_format)
        corpus = with_gold(corpus, gold, format=form, base=gold_base, first=cast(Side, gold_first))
    with open_lens(model, trust_remote_code=trust_remote_code) as lens, Bar(quiet=as_json) as bar:
        if reverse is None:
            run = align_corpus(lens, corpus, output, settings, batch_size=batch_size, progress=bar)
        else:
            with open_lens(reverse, trust_remote_code=trust_remote_code) as other:
                run = align_corpus(lens, corpus, output, settings, reverse=other, batch_size=batch_size, progress=bar)
    _tell(run, as_json)


def _tell(run: Run, as_json: bool) -> None:
    scores = run["align_scores"].to_dict("records") if "align_scores" in run.tables else []
    links = run.folder / "links.txt"
    if as_json:
        typer.echo(json.dumps({"run": str(run.folder), "links": str(links), "scores": scores}))
        return
    for score in scores:
        aer, low, high, precision, recall = (
            f"{100 * score[name]:.1f}" for name in ("aer", "aer_low", "aer_high", "precision", "recall")
        )
        found = f"precision {precision}, recall {recall}, {score['links']:,} links"
        typer.echo(f"  {score['system']:8} AER {aer} ({low} to {high}), {found}")
    typer.echo(f"Links, a line for each pair: {links}")
    typer.echo(f"Everything on one page: {run.folder / run.manifest['page']}")
