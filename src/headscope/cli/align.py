"""`headscope align MODEL SOURCE [TARGET] -o RUN`: word alignments out of a translation model."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headscope.alignment.gold import OPTIONS
from headscope.cli import options
from headscope.remote import as_path

if TYPE_CHECKING:
    from headscope.study import Run


def align(
    model: options.Model,
    source: Annotated[
        Path,
        typer.Argument(
            metavar="SOURCE", parser=as_path, help="Source sentences, a line each, words parted by spaces; or `src ||| tgt`."
        ),
    ],
    output: options.Output,
    target: Annotated[
        Path | None,
        typer.Argument(metavar="TARGET", parser=as_path, help="Their translations; not needed with `src ||| tgt`."),
    ] = None,
    first: Annotated[str, typer.Option(help="Which side stands before |||: source or target.")] = "source",
    gold: Annotated[Path | None, typer.Option(parser=as_path, help=OPTIONS["gold"])] = None,
    gold_format: Annotated[str, typer.Option(help=OPTIONS["gold_format"])] = "auto",
    gold_base: Annotated[int | None, typer.Option(help=OPTIONS["gold_base"])] = None,
    gold_first: Annotated[str, typer.Option(help=OPTIONS["gold_first"])] = "source",
    layer: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="Take the links from this layer of the decoder.")
    ] = None,
    head: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="And from this head of it, not from all together.")
    ] = None,
    by: Annotated[
        str,
        typer.Option(
            help="Or choose: agreement (heads whose links agree), norm (the layer with the highest average norm), "
            "aer (with the lowest AER on half of the gold), states (cosines of an encoder that reads both languages)."
        ),
    ] = "agreement",
    by_head: Annotated[bool, typer.Option("--by-head", help="Choose a single head, not several or a layer.")] = False,
    measure: Annotated[str, typer.Option("-m", "--measure", help="norm or weight.")] = "norm",
    setting: Annotated[
        str | None,
        typer.Option(
            help="AWI reads the row in which a word is the decoder's input, AWO the row that predicts it. "
            "Default: AWI, and by agreement the better one of each head."
        ),
    ] = None,
    tune: Annotated[
        Path | None,
        typer.Option(
            parser=as_path,
            metavar="LINKS",
            help="Gold links of about ten pairs, a line for each of the first pairs of the texts: weigh all heads by them.",
        ),
    ] = None,
    weights: Annotated[
        Path | None, typer.Option(parser=as_path, metavar="FILE", help="The weights.json of a run that was tuned before.")
    ] = None,
    reverse: Annotated[
        str | None,
        typer.Option(help="A model of the other direction, to join both; auto: the one that opus-mt's name tells."),
    ] = None,
    symmetrise: Annotated[
        str,
        typer.Option(
            help="How two directions are joined: intersection, union, grow-diag-final-and, "
            "product (of both models' scores, before links are chosen)."
        ),
    ] = "grow-diag-final-and",
    prompt: Annotated[
        str | None, typer.Option(help="For a decoder-only model: a text with {source} and {target}, which it reads.")
    ] = None,
    gradient: Annotated[
        int,
        typer.Option(min=0, metavar="N", help="Also align by gradients over so many noisy copies, such as 30; takes long."),
    ] = 0,
    eflomal: Annotated[
        bool, typer.Option("--eflomal", help="Also run the statistical aligner eflomal, if it is installed.")
    ] = False,
    scores: Annotated[bool, typer.Option("--scores", help="Also write the score of every link, to scores.tsv.")] = False,
    draw: Annotated[
        list[int] | None,
        typer.Option(min=1, metavar="LINE", help="Draw the links of the pair in this line, from 1; may be repeated."),
    ] = None,
    batch_size: options.BatchSize = 16,
    engine: options.Engine = "local",
    address: options.Address = None,
    workers: options.Workers = None,
    as_json: options.AsJson = False,
    device: options.Device = None,
    dtype: options.Dtype = "float32",
    revision: options.Revision = None,
    trust_remote_code: options.TrustRemoteCode = False,
    device_map: options.DeviceMap = None,
    quantize: options.Quantize = None,
) -> None:
    """Align words by a translation model's cross attention.

    Which source word each target word comes from, by the norms (or weights) of its heads.

    Without a layer, up to six heads are chosen whose links agree most, read from either side and with those of other
    heads: that needs no gold links. `--by norm` is the rule of kobayashi2020 (section 5.2), the layer with the highest
    average norm. With gold links, also the error rate of every layer and head. With `--tune`, all heads are weighed by a
    regression on the gold links of about ten pairs, and error rates are those of the other pairs.

    Examples:

      headscope align Helsinki-NLP/opus-mt-fr-en french.txt english.txt -o run

      headscope align Helsinki-NLP/opus-mt-fr-en pairs.txt --gold gold.txt --gold-base 1 --by aer -o run

      headscope align Helsinki-NLP/opus-mt-fr-en fr.txt en.txt --tune gold10.txt --scores --draw 3 -o run

      headscope align Helsinki-NLP/opus-mt-fr-en more.fr more.en --weights run/weights.json -o more

      headscope align Helsinki-NLP/opus-mt-fr-en fr.txt en.txt --reverse auto --symmetrise product -o run

      headscope align HuggingFaceTB/SmolLM2-135M-Instruct fr.txt en.txt --measure weight
      --prompt "French: {source} English: {target}" -o run
    """
    from headscope.alignment import align as align_corpus
    from headscope.alignment.gold import first_with_gold, read_pairs
    from headscope.alignment.reverse import AUTO, reverse_of
    from headscope.engines import chosen_engine
    from headscope.lens import ModelSource
    from headscope.progress import Bar

    corpus = read_pairs(source, target, first, gold, gold_format, gold_base, gold_first)
    forward = ModelSource(model, device, dtype, revision, trust_remote_code, device_map=device_map, quantization=quantize)
    other = reverse_of(model) if reverse == AUTO else reverse
    backward = replace(forward, model=other, revision=None, name="") if other else None
    tuned = None if tune is None else first_with_gold(corpus, tune, format=gold_format, base=gold_base, first=gold_first)
    with chosen_engine(engine, address, workers) as counting, Bar(quiet=as_json) as bar:
        run = align_corpus(
            forward, corpus, out=output, layer=layer, head=head, measure=measure, setting=setting, by=by, by_head=by_head,
            tune=tuned, weights=weights, reverse=backward, symmetrise=symmetrise, prompt=prompt, gradient=gradient,
            eflomal=eflomal, scores=scores, draw=draw or (), batch_size=batch_size, engine=counting, progress=bar,
        )  # fmt: skip
    _tell(run, as_json)


def _tell(run: Run, as_json: bool) -> None:
    from headscope.alignment.run import WEIGHTS, read_choices
    from headscope.alignment.writing import SCORES

    choices = read_choices(run)
    scores = run["align_scores"].to_dict("records") if "align_scores" in run.tables else []
    links = run.folder / "links.txt"
    if as_json:
        typer.echo(json.dumps({"run": str(run.folder), "links": str(links), "scores": scores, **choices}))
        return
    for line in choices["chosen"]:
        typer.echo(line.replace("`", ""))
    for line in choices["warnings"]:
        typer.echo(f"Warning: {line}")
    for score in scores:
        aer, low, high, precision, recall = (
            f"{100 * score[name]:.1f}" for name in ("aer", "aer_low", "aer_high", "precision", "recall")
        )
        found = f"precision {precision}, recall {recall}, {score['links']:,} links"
        typer.echo(f"  {score['system']:8} AER {aer} ({low} to {high}), {found}")
    typer.echo(f"Links, a line for each pair: {links}")
    for what, file in (("The score of each", SCORES), ("Weights, for --weights", WEIGHTS)):
        if (run.folder / file).is_file():
            typer.echo(f"{what}: {run.folder / file}")
    typer.echo(f"Everything on one page: {run.folder / run.manifest['page']}")
