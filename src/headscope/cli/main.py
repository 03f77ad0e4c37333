"""`headscope COMMAND`: the commands, and what happens to an error that the user can act on."""

import json
import sys
from typing import Any, NoReturn

import typer

from headscope.allocation import keep_freed_memory
from headscope.cli.commands import COMMANDS, SETTINGS, Commands, command_named
from headscope.errors import HeadscopeError, ReadingError
from headscope.garbage import end_without_looking
from headscope.version import __version__, installed

INTERRUPTED = 130  # what typer exits with on Ctrl-C
UsageError: Any = typer.BadParameter.__base__  # of click, or of typer's own copy of it

app = typer.Typer(
    cls=Commands,
    help="What every attention head of a Transformer does: its weights, and the norms of what they multiply.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    **SETTINGS,
)
for name, sentence in COMMANDS.items():
    app.command(name, help=sentence)(lambda: None)


@app.callback(invoke_without_command=True)
def options(
    context: typer.Context,
    version: bool = typer.Option(
        False, "--version", help="Print the version; with --json, all that a report of a fault needs."
    ),
    as_json: bool = typer.Option(False, "--json", help="With --version: versions and machine as JSON."),
) -> None:
    """What every attention head of a Transformer does: its weights, and the norms of what they multiply."""
    if version:
        typer.echo(json.dumps(installed(), indent=2) if as_json else f"headscope {__version__}")
        raise typer.Exit
    if as_json:
        raise typer.BadParameter("--json stands behind a command, or with --version.", ctx=context)
    if context.invoked_subcommand is None:
        raise typer.BadParameter("A command is missing.", ctx=context)


def main() -> None:
    """Run a command. An error of the user's making is one sentence on stderr, and exit code 2."""
    keep_freed_memory()
    end_without_looking()
    try:
        code = app(standalone_mode=False, prog_name="headscope")
    except ReadingError as error:
        _refuse(error.said("--on-error skip" if _can_skip() else None))
    except HeadscopeError as error:
        _refuse(str(error))
    except UsageError as error:
        if "\n" not in error.message:
            _refuse(_what_is_wrong(error))
        typer.echo(error.message, err=True)  # the help of a command that was given nothing
        sys.exit(error.exit_code)
    if code == INTERRUPTED:
        typer.echo("headscope: interrupted; run the same command again to go on.", err=True)
    sys.exit(code or 0)


def _can_skip() -> bool:
    """Whether the command that is run can pass over what it cannot read."""
    asked = next((given for given in sys.argv[1:] if given in COMMANDS), None)
    return asked is not None and any("--on-error" in parameter.opts for parameter in command_named(asked).params)


def _refuse(sentence: str) -> NoReturn:
    typer.echo(f"headscope: {sentence}", err=True)
    sys.exit(2)


def _what_is_wrong(error: Any) -> str:
    """What typer says of a flag or an argument, in one line, and where to read on."""
    said = " ".join(error.format_message().split()).replace("Value error, ", "").rstrip(".")
    return f"{said}; {error.ctx.command_path} --help says what it takes." if error.ctx else f"{said}."
