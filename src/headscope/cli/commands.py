"""The commands, each in a file of its own, which is imported when it is the one that was asked for."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from headscope.cli.help import help_of

# What `headscope --help` says of each: the first sentence of what its own help says.
COMMANDS = {
    "demo": "Read a text with a real model, and report on every head.",
    "doctor": "Prove that a model's attention is read right.",
    "read": "Read one text: what every head looks at most.",
    "logits": "Say which heads and tokens speak for a prediction.",
    "similarity": "Say which tokens and heads make two texts alike.",
    "view": "See a text as a model's heads see it, on one page.",
    "study": "Count statistics over a corpus.",
    "ablate": "See what happens without each head.",
    "league": "See which number of a head predicts what happens without it.",
    "align": "Align words by a translation model's cross attention.",
    "exemplars": "Print the texts that excite a head most.",
    "table": "Print a table of a run.",
    "compare": "Print a table of two runs side by side, with differences.",
    "serve": "Type a text and see every head live (extra: server).",
    "report": "Write one page with what every head does.",
    "cache": "List what is kept to be quick, or throw it away.",
    "paper": "Make every table and figure of a paper, for any model.",
}
_MODULES = {"compare": "table"}  # the others are called as their command
SETTINGS: Any = {"rich_markup_mode": None, "pretty_exceptions_enable": False}  # its tables leave little room, of 80 columns


class Commands(TyperGroup):
    """Knows every command by its name and sentence, and the one that is run as it is."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, found, rest = super().resolve_command(ctx, args)
        return name, found and command_named(found.name), rest


@cache
def command_named(name: str) -> Any:
    """A command with its arguments, options and help."""
    module = import_module(f"headscope.cli.{_MODULES.get(name, name)}")
    found = getattr(module, name)
    if isinstance(found, typer.Typer):
        return typer.main.get_command(found)
    alone = typer.Typer(add_completion=False, context_settings={"help_option_names": ["-h", "--help"]}, **SETTINGS)
    kind = _ending_in(module.epilog) if hasattr(module, "epilog") else None
    alone.command(name, help=help_of(found.__doc__), cls=kind)(found)
    return typer.main.get_command(alone)


def _ending_in(epilog: Callable[[], str]) -> type[TyperCommand]:
    """A command whose help ends in something that takes its time to be known: nobody waits for it who has not asked."""

    class Command(TyperCommand):
        def format_epilog(self, ctx: Any, formatter: Any) -> None:
            self.epilog = epilog()
            super().format_epilog(ctx, formatter)

    return Command
