"""`headscope ablate MODEL CORPUS -o RUN`: what happens without each head."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from headscope.cli import options
from headscope.remote import as_path
from headscope.text import FORMATS

if TYPE_CHECKING:
    from headscope.later import pd
    from headscope.study import Run
    from headscope.text import Corpus

TOP = 10  # heads, or sets of them, that are printed
SHOWN = ("loss", "kl", "states", "pooled", "loss_estimate", "kl_estimate")


def ablate(
    model: options.Model,
    corpus: Annotated[list[str], typer.Argument(metavar="CORPUS", help="Files, folders or globs.")],
    output: options.Output,
    how: Annotated[
        list[str] | None,
        typer.Option("--how", metavar="WAY", help="In a head's place: mean (default), zero, resample; may be repeated."),
    ] = None,
    at: Annotated[Literal["all", "first", "rest"], typer.Option(help="At which tokens: all, the first, the rest.")] = "all",
    heads: Annotated[
        list[str] | None,
        typer.Option("--heads", metavar="HEADS", help='A set taken away together, "1.3, 1.0"; may be repeated.'),
    ] = None,
    layers: Annotated[bool, typer.Option("--layers", help="Take whole layers away as well.")] = False,
    curve: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Take heads away one after the other, by a column such as ablation.kl."),
    ] = None,
    curve_run: Annotated[
        Path | None, typer.Option(metavar="RUN", parser=as_path, help="The run that has this column. Default: this one.")
    ] = None,
    each: Annotated[
        bool, typer.Option("--each/--no-each", help="Every head by itself; or only --heads, --layers and --curve.")
    ] = True,
    estimate: Annotated[
        bool | None,
        typer.Option("--estimate/--no-estimate", help="Only estimates, from backward passes; or none. Default: both."),
    ] = None,
    exact: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="With --estimate: of the largest so many exactly.")
    ] = None,
    draws: Annotated[int, typer.Option(min=0, metavar="N", help="Draws a text for the estimate of KL.")] = 8,
    means: Annotated[
        Path | None, typer.Option(metavar="FILE", parser=as_path, help="Means of heads, or a run that has them.")
    ] = None,
    target: Annotated[
        Path | None, typer.Option(metavar="FILE", parser=as_path, help="For a translator: the translations, line by line.")
    ] = None,
    first: Annotated[
        Literal["source", "target"] | None, typer.Option(help="For a translator: which side of `a ||| b` comes first.")
    ] = None,
    format: Annotated[
        str | None, typer.Option(help=f"One of {', '.join(FORMATS)}. Default: recognised from the content.")
    ] = None,
    unit: Annotated[str | None, typer.Option(help="Of a treebank: sentence, or document (# newdoc).")] = None,
    column: Annotated[str | None, typer.Option(help="The column of JSONL and Parquet files. Default: text.")] = None,
    keep_marks: options.KeepMarks = False,
    take: Annotated[int | None, typer.Option(min=1, metavar="N", help="Only the first so many documents.")] = None,
    batch_size: options.BatchSize = 16,
    shard_size: Annotated[
        int, typer.Option(min=1, metavar="N", help="Documents a shard; a kill loses at most one shard.")
    ] = 256,
    max_tokens: options.MaxTokens = None,
    truncate: options.Truncate = False,
    on_error: options.OnError = "stop",
    engine: options.Engine = "local",
    address: options.Address = None,
    workers: options.Workers = None,
    as_json: options.AsJson = False,
    device: options.Device = None,
    device_map: options.DeviceMap = None,
    dtype: options.Dtype = "float32",
    quantize: options.Quantize = None,
    revision: options.Revision = None,
    trust_remote_code: options.TrustRemoteCode = False,
) -> None:
    """See what happens without each head. Run the same command again to go on after an interruption.

    For every head, per predicted token: the change of the model's loss and KL, in nats; for an encoder that predicts no
    words, how far its states turn. Heads are ranked by KL, which ten texts settle; the loss takes many more.

    Examples:

      headscope ablate gpt2 texts.txt -o run

      headscope ablate gpt2 texts.txt -o run --how zero --how mean --layers

      headscope ablate gpt2 texts.txt -o run --estimate --exact 20

      headscope ablate gpt2 texts.txt -o run --heads "1.3, 1.0" --heads 4 --no-each

      headscope ablate gpt2 texts.txt -o run --curve ablation.kl

      headscope ablate Helsinki-NLP/opus-mt-fr-en fr.txt --target en.txt -o run
    """
    from headscope.ablation import ablate as run_ablation
    from headscope.engines import chosen_engine
    from headscope.lens import ModelSource
    from headscope.progress import Bar
    from headscope.text import Corpus

    documents: Corpus
    if target is not None or first is not None:
        from headscope.text.parallel import parallel_documents

        documents = parallel_documents(corpus[0], target, first=first or "source", on_error=on_error)
    else:
        documents = Corpus.from_files(
            *corpus, format=format, unit=unit, column=column, keep_marks=keep_marks, on_error=on_error
        )
    source = ModelSource(model, device, dtype, revision, trust_remote_code, device_map=device_map, quantization=quantize)
    with chosen_engine(engine, address, workers) as counting, Bar(quiet=as_json) as bar:
        run = run_ablation(
            source, documents.take(take), how=how or ["mean"], at=at, heads=heads or (), layers=layers, curve=curve,
            curve_run=curve_run, each=each, estimate=estimate, exact=exact, draws=draws, means=means, out=output,
            batch_size=batch_size, max_tokens=max_tokens, truncate=truncate, on_error=on_error, shard_size=shard_size,
            engine=counting, progress=bar,
        )  # fmt: skip
    _tell(run, as_json)


def _tell(run: Run, as_json: bool) -> None:
    from headscope.ablation import warnings_of

    counts, clean = run.manifest["counts"], run.manifest["clean"]
    if as_json:
        said = {"run": str(run.folder), "tables": run.tables, **counts, "clean": clean, "warnings": warnings_of(run)}
        typer.echo(json.dumps(said))
        return
    loss = f"; with all heads {clean['loss']:.4f} nats a token" if "loss" in clean else ""
    typer.echo(f"Counted {counts['documents']:,} documents, {counts['tokens']:,} tokens{loss}.")
    if "ablation" in run:
        _tell_heads(run["ablation"])
    for name in [name for name in ("ablation_sets", "ablation_layers") if name in run and "ablation" not in run]:
        for row in run[name].head(TOP).to_dict("records"):
            what = row["heads"] if name == "ablation_sets" else f"{row['stack']} {row['kind']} {row['layer']}"
            typer.echo(f"  {what}  {row['how']}  {_numbers(row)}")
    typer.echo(f"Tables in {run.folder / 'tables'}: {', '.join(run.tables)}.")
    first = run.tables[0]
    by = next(name for name in ("kl", "states", "kl_estimate", "loss_estimate") if name in run[first])
    typer.echo(f"Look at one with: headscope table {run.folder} {first} --sort {by}")


def _tell_heads(table: pd.DataFrame) -> None:
    for row in table[table["rank"] <= TOP].sort_values(["how", "rank"]).to_dict("records"):
        typer.echo(f"  {row['stack']} {row['kind']} {row['layer']}.{row['head']}  {row['how']}  {_numbers(row)}")
    if "loss" in table:
        lower = (table["loss"] < 0).mean()
        typer.echo(
            f"Without {lower:.0%} of the heads the loss is lower. Heads repair each other: see --layers and --heads too."
        )


def _numbers(row: dict[str, Any]) -> str:
    return "  ".join(f"{name.replace('_', ' ')} {row[name]:+.4f}" for name in SHOWN if name in row)
