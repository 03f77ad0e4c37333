"""`headscope demo`: a first look at a real model, offline, in a minute."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from headscope.cli import options


def demo(
    output: Annotated[Path, typer.Option("-o", "--output", help="Where the report and the picture go.")] = Path("out"),
    as_json: options.AsJson = False,
) -> None:
    """Read a text with a real model, and report on every head.

    Says what its heads do, draws a picture and writes a page, offline, in a minute.

    Examples:

      headscope demo

      headscope demo -o my-folder
    """
    from headscope.demo import run

    run(output, as_json=as_json)
