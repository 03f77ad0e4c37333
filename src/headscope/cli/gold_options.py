"""The options about gold links, the same wherever a command takes some."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Gold = Annotated[Path | None, typer.Option(help="Gold links: `i-j` sure, `ipj` possible, or NAACL rows.")]
GoldFormat = Annotated[str, typer.Option(help="auto, pharaoh or naacl.")]
GoldBase = Annotated[int | None, typer.Option(min=0, max=1, help="The first word's number. Default: 0, and 1 in NAACL.")]
GoldFirst = Annotated[str, typer.Option(help="Whose number stands first in a link: source or target.")]
FirstSide = Annotated[str, typer.Option(help="Which side stands before |||: source or target.")]
