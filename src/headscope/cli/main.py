"""`headscope COMMAND`: the commands, and what happens to an error that the user can act on."""

import sys

import typer

from headscope.cli.align import align
from headscope.cli.demo import demo
from headscope.cli.doctor import doctor
from headscope.cli.exemplars import exemplars
from headscope.cli.paper import paper
from headscope.cli.read import read
from headscope.cli.report import report
from headscope.cli.serve import serve
from headscope.cli.study import study
from headscope.cli.table import compare, table
from headscope.cli.view import view
from headscope.errors import HeadscopeError
from headscope.version import __version__

INTERRUPTED = 130  # what typer exits with on Ctrl-C

app = typer.Typer(
    help="What every attention head of a Transformer does: its weights, and the norms of what they multiply.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (demo, doctor, read, view, study, align, exemplars, table, compare, serve, report):
    app.command()(command)
app.add_typer(paper, name="paper")


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"headscope {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: bool = typer.Option(False, "--version", callback=_print_version, is_eager=True, help="Print the version."),
) -> None:
    """What every attention head of a Transformer does: its weights, and the norms of what they multiply."""


def main() -> None:
    """Run a command. An error of the user's making is one sentence on stderr, and exit code 2."""
    try:
        app()
    except HeadscopeError as error:
        typer.echo(f"headscope: {error}", err=True)
        sys.exit(2)
    except SystemExit as left:
        if left.code == INTERRUPTED:
            typer.echo("headscope: interrupted; run the same command again to go on.", err=True)
        raise
