"""`headscope cache`: the copies of GGUF models that open at once, and compiled kernels."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Annotated

import typer

from headscope import kernels
from headscope.cache_folder import cache_folder
from headscope.cli import options
from headscope.lens import copies


def cache(
    clear: Annotated[
        bool, typer.Option("--clear", help="Throw everything away: it is made again when it is needed.")
    ] = False,
    as_json: options.AsJson = False,
) -> None:
    """List what is kept to be quick, or throw it away.

    A GGUF file takes half a minute to read, so an exact copy of its numbers is kept, up to 5 GB of all copies together:
    those that were not used for longest go first. Loops that are compiled for this processor are kept too. HEADSCOPE_CACHE
    names the folder (~/.cache/headscope); where it is empty, HEADSCOPE_CACHE="", nothing is kept.

    Examples:

      headscope cache

      headscope cache --clear
    """
    folder, found = cache_folder(), copies.clear() if clear else copies.copies()
    size, compiled = sum(one.bytes for one in found), kernels.clear() if clear else kernels.kept()
    if as_json:
        listed = [one.to_json() for one in found]
        told = {"folder": folder and str(folder), "cleared": clear, "bytes": size, "copies": listed, "compiled": compiled}
        typer.echo(json.dumps(told, indent=2))
        return
    for one in found:
        used = datetime.fromtimestamp(one.used).strftime("%Y-%m-%d %H:%M")
        typer.echo(f"{one.bytes / 1e6:>8,.0f} MB  {used}  {one.model}")
    what = "thrown away" if clear else f"of at most {copies.LIMIT / 1e6:,.0f} MB"
    copied = "1 copy" if len(found) == 1 else f"{len(found)} copies"
    also = f"; compiled loops, {compiled / 1e6:,.1f} MB" if compiled else ""
    typer.echo(
        f"{copied}, {size / 1e6:,.0f} MB {what}{also}, in {folder}"
        if folder
        else "Nothing is kept: HEADSCOPE_CACHE is empty."
    )
