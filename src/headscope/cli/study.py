"""`headscope study MODEL CORPUS -o RUN`: statistics over a corpus, in one pass, that resumes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headscope.cli import options
from headscope.text import FORMATS

if TYPE_CHECKING:
    from headscope.study import Run


def epilog() -> str:
    """Below the options: what --set can set."""
    from headscope.statistics.set_by_text import all_said

    return options.settings_said(all_said())


def _print_list(asked: bool) -> None:
    if asked:
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        from headscope.statistics import STATISTICS

        table = Table(box=None, show_header=False)
        for name in sorted(STATISTICS):
            table.add_row(Text(name, style="bold"), STATISTICS[name].about)
        Console().print(table)
        raise typer.Exit


def study(
    model: options.Model,
    corpus: Annotated[list[str], typer.Argument(metavar="CORPUS", help="Files, folders or globs.")],
    output: options.Output,
    statistics: Annotated[
        list[str] | None,
        typer.Option("-s", "--statistic", metavar="NAME", help="One of --list; may be repeated. Default: the usual ones."),
    ] = None,
    measures: options.Measures = None,
    level: options.Level = "token",
    set_by_text: options.Set = None,
    format: Annotated[
        str | None, typer.Option(help=f"One of {', '.join(FORMATS)}. Default: recognised from the content.")
    ] = None,
    unit: Annotated[
        str | None,
        typer.Option(help="Of a treebank: sentence, or document (# newdoc). Default: sentence; document for mentions."),
    ] = None,
    column: Annotated[str | None, typer.Option(help="The column of JSONL and Parquet files. Default: text.")] = None,
    keep_marks: options.KeepMarks = False,
    by_word: options.ByWord = False,
    annotate: Annotated[
        str | None, typer.Option(help="Add parts of speech and dependencies: spacy:PIPELINE (extra: spacy).")
    ] = None,
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
    random_init: Annotated[
        int | None, typer.Option(metavar="SEED", help="Use the model's randomly initialised twin instead.")
    ] = None,
    report: Annotated[
        bool, typer.Option("--report", help="Count what a report shows (unless -s says otherwise), and write it.")
    ] = False,
    list_statistics: Annotated[
        bool, typer.Option("--list", callback=_print_list, is_eager=True, help="List the statistics.")
    ] = False,
    as_json: options.AsJson = False,
    device: options.Device = None,
    dtype: options.Dtype = "float32",
    revision: options.Revision = None,
    trust_remote_code: options.TrustRemoteCode = False,
    device_map: options.DeviceMap = None,
    quantize: options.Quantize = None,
) -> None:
    """Count statistics over a corpus. Run the same command again to go on after an interruption.

    Examples:

      headscope study bert-base-uncased wiki.txt -o run

      headscope study bert-base-uncased wiki.txt -o run --report

      headscope study gpt2 "texts/*.jsonl.gz" -o run -s entropy -s distance -m weight -m norm --truncate

      headscope study bert-base-uncased wiki.txt -o run --format paragraph-pairs --max-tokens 128 --truncate

      headscope study bert-base-uncased wiki.txt -o run --engine ray --workers 4
    """
    from headscope.engines import chosen_engine
    from headscope.lens import AS_WRITTEN, BY_WORD, ModelSource
    from headscope.progress import Bar
    from headscope.report import add_model_tables, report_statistics
    from headscope.statistics.set_by_text import statistic_settings
    from headscope.study.study import check_study, named_statistics, with_settings
    from headscope.study.study import study as run_study
    from headscope.text import Annotator, Corpus

    changed, by_report = statistic_settings(set_by_text or ()), report and not statistics
    named = [] if by_report else named_statistics(statistics, measures or ["weight"], level, changed)
    needed = {layer for statistic in named for layer in statistic.needs}
    unit = unit or ("document" if "mentions" in needed else None)  # a sentence has few antecedents
    needs = "mentions" if "mentions" in needed else min(needed, default=None) if annotate is None else None
    documents = Corpus.from_files(
        *corpus, format=format, unit=unit, column=column, keep_marks=keep_marks, needs=needs, on_error=on_error
    )
    if annotate is not None:
        documents = documents.annotated(Annotator.of(annotate))
    source = ModelSource(
        model, device, dtype, revision, trust_remote_code, random_init, device_map=device_map, quantization=quantize
    )
    feed: Any = {"batch_size": batch_size, "max_tokens": max_tokens, "truncate": truncate, "on_error": on_error}
    feed |= {"out": output, "shard_size": shard_size, "encoding": BY_WORD if by_word else AS_WRITTEN}
    check_study(source, documents, None if by_report else named, **feed)
    with chosen_engine(engine, address, workers) as counting, source.open() as lens, Bar(quiet=as_json) as bar:
        counted = with_settings(report_statistics(lens, measures), changed) if by_report else named
        run = run_study(lens, documents, counted, engine=counting, progress=bar, **feed)
        page = None
        if report:
            add_model_tables(lens, run, documents)
            page = run.report()
    if as_json:
        said = {"run": str(run.folder), "tables": run.tables, **run.manifest["counts"]}
        typer.echo(json.dumps(said | ({"report": str(page)} if page else {})))
    else:
        _tell(run, page)


def _tell(run: Run, page: Path | None) -> None:
    counts, in_files = run.manifest["counts"], run.manifest["corpus"]["skipped"]
    skipped = counts["skipped"] + in_files["count"]
    typer.echo(f"Counted {counts['documents']:,} documents, {counts['tokens']:,} tokens; skipped {skipped:,}.")
    for example in in_files["examples"][:5]:
        typer.echo(f"  skipped {example}")
    typer.echo(f"Tables in {run.folder / 'tables'}: {', '.join(run.tables)}.")
    typer.echo(f"Look at one with: headscope table {run.folder} {run.tables[0]}")
    if page:
        typer.echo(f"Report: {page}. Open it in a browser; explore it live with: headscope serve --run {run.folder}")
    else:
        typer.echo(f"Make a page of them with: headscope report {run.folder}")
