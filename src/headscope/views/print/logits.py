"""A logit's parts as a figure: heads as an atlas in two colours, and one head's parts over the tokens of the text."""

from __future__ import annotations

from typing import Any

import numpy as np

from headscope.colours import ABOVE, BELOW, BLUE, FAINT, INK, VERMILION
from headscope.later import Figure, Rectangle, matplotlib
from headscope.lens.head import Head
from headscope.study.results.figures import colour_scale, figure
from headscope.writing.logits import Logits

FULL = 7.0  # inches: a page


def draw_logits(found: Logits, head: str | Head | None = None) -> Figure:
    """A square for every head by its part; and the parts of one head (the largest, if none is named) by token."""
    chosen = found.head(head)
    tokens = found.by_token(chosen)
    groups: dict[str, list[Any]] = {}
    for site in found.heads:
        groups.setdefault(site.group, []).append(site)
    tall = max(max(len(sites) for sites in groups.values()), len(tokens))
    made, panels = figure(1, len(groups) + 1, width=FULL, height=max(2.2, 0.15 * tall + 0.8))
    sums = {site: parts.sum(1).numpy() for site, parts in found.heads.items()}
    largest = max(float(np.abs(parts).max()) for parts in sums.values()) or 1.0
    for axes, (group, sites) in zip(panels[0], groups.items(), strict=False):
        image = _atlas(axes, [sums[site] for site in sites], [site.layer for site in sites], largest)
        _title(axes, f"Part of each head, {group}" if len(groups) > 1 else "Part of each head")
        if group == f"{chosen.stack} {chosen.kind}":
            row = [site.layer for site in sites].index(chosen.layer)
            axes.add_patch(Rectangle((chosen.head - 0.5, row - 0.5), 1, 1, fill=False, edgecolor=INK, linewidth=1))
    colour_scale(image, list(panels[0][: len(groups)]))
    _bars(panels[0][-1], tokens["token"].tolist(), tokens["part"].to_numpy())
    _title(panels[0][-1], f"{chosen.label} by token: {tokens['part'].sum():+.3f}")
    left_over = f"left over: {found.remainder:+.0e}"
    made.suptitle(
        f"{found.said}, at {found.texts[found.position]} ({found.position}); {left_over}", fontsize=8.5, parse_math=False
    )
    return made


def _title(axes: Any, said: str) -> None:
    axes.set_title(said, fontsize=8.5, fontweight="bold", loc="left")


def _atlas(axes: Any, rows: list[Any], layers: list[int], largest: float) -> Any:
    """Layers down, heads across: blue for what speaks for it, orange for what speaks against it."""
    grid = np.full((len(rows), max(map(len, rows))), np.nan)
    for row, parts in enumerate(rows):
        grid[row, : len(parts)] = parts
    colours = matplotlib.colors.LinearSegmentedColormap.from_list("parts", [*reversed(BELOW[1:]), *ABOVE])
    image = axes.imshow(grid, cmap=colours, vmin=-largest, vmax=largest, aspect="auto", interpolation="nearest")
    step = max(1, len(layers) // 10)
    axes.set_yticks(range(0, len(layers), step), [str(layer) for layer in layers[::step]])
    axes.set_xlabel("Head")
    axes.set_ylabel("Layer")
    return image


def _bars(axes: Any, tokens: list[str], parts: Any) -> None:
    axes.barh(range(len(parts)), parts, color=[BLUE if part >= 0 else VERMILION for part in parts])
    axes.set_yticks(range(len(parts)))
    for label, token in zip(axes.set_yticklabels(tokens), tokens, strict=True):
        label.set_parse_math(False)  # a token may be a dollar sign
        label.set_text(token)
    axes.invert_yaxis()
    axes.axvline(0, color=FAINT, linewidth=0.7)
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
