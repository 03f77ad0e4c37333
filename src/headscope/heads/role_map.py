"""The roles of a run's heads as a small picture for notebooks: a square for each head, a row for each layer."""

from __future__ import annotations

from base64 import b64encode
from html import escape

from headscope.heads.role_table import FAMILIES
from headscope.later import pd
from headscope.study.run import Run

SQUARE, GAP = 12, 2  # pixels
LINE = 18
MARGIN = 30  # for the numbers of layers
INK = "#808890"  # on light and dark alike


def role_map(run: Run) -> str:
    """An image; empty for a run that has no numbers of heads."""
    if not run.heads:
        return ""
    found = run.roles
    parts, top, width = [], 0, 0
    groups = found.groupby(["stack", "kind"], sort=False)
    for (stack, kind), heads in groups:
        if len(groups) > 1:
            parts.append(_text(0, top + 13, f"{stack} {kind}"))
            top += LINE
        drawn, height, wide = _grid(heads, top)
        parts += drawn
        top, width = top + height + 6, max(width, wide)
    legend, height = _legend(found["family"], top + 4)
    width = max(width, 330)
    picture = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{top + 4 + height}" '
        f'font-family="sans-serif" font-size="11" fill="{INK}">{"".join([*parts, *legend])}</svg>'
    )
    encoded = b64encode(picture.encode()).decode("ascii")
    return f'<img src="data:image/svg+xml;base64,{encoded}" alt="the roles of {len(found)} heads" style="max-width: 100%">'


def _grid(heads: pd.DataFrame, top: int) -> tuple[list[str], int, int]:
    """Squares in rows of layers, their height, and how wide they are."""
    colours = {family.name: family.light for family in FAMILIES}
    layers = sorted(heads["layer"].unique())
    step = SQUARE + GAP
    drawn = [_text(0, top + row * step + SQUARE - 2, str(layer)) for row, layer in enumerate(layers)]
    for head in heads.to_dict("records"):
        x, y = MARGIN + int(head["head"]) * step, top + layers.index(head["layer"]) * step
        colour = colours.get(head["family"], INK)
        drawn.append(f'<rect x="{x}" y="{y}" width="{SQUARE}" height="{SQUARE}" rx="2" fill="{colour}"/>')
    return drawn, len(layers) * step, MARGIN + (int(heads["head"].max()) + 1) * step


def _legend(families: pd.Series, top: int) -> tuple[list[str], int]:
    """Each kind of role that heads have, and how many."""
    counts = families.value_counts()
    here = [family for family in FAMILIES if family.name in counts.index]
    drawn = []
    for line, family in enumerate(here):
        y = top + line * LINE
        drawn.append(f'<rect x="{MARGIN}" y="{y + 2}" width="{SQUARE}" height="{SQUARE}" rx="2" fill="{family.light}"/>')
        drawn.append(_text(MARGIN + LINE, y + 12, f"{counts[family.name]} {family.does}"))
    return drawn, len(here) * LINE


def _text(x: int, y: int, words: str) -> str:
    return f'<text x="{x}" y="{y}">{escape(words)}</text>'
