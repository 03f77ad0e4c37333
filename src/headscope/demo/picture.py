"""The demo's picture: every head's share on one kind of token, by weight and by norm, and where each layer looks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from headscope.colours import BLUE, FAINT, INK, PALE, VERMILION, YELLOW
from headscope.demo.text import TITLE
from headscope.later import Figure, matplotlib, pd
from headscope.report.findings.evidence import percent
from headscope.statistics import Punctuation, SpecialTokens, Strength
from headscope.study import Run
from headscope.study.results import figures

OTHER = "other tokens"
KINDS = {"[CLS]": VERMILION, "[SEP]": BLUE, "periods and commas": YELLOW, OTHER: PALE}  # and their colours
MEASURES = {"weight": "weight α", "norm": "norm ‖α f(x)‖"}
WIDE_ENOUGH = 0.05  # a smaller part of a bar has no room for its number


def shares(run: Run, measure: str) -> pd.DataFrame:
    """One row a head, layer by layer: what of its attention each kind of token gets."""
    special, points = run[SpecialTokens(measure=measure)], run[Punctuation(measure=measure)]
    found = special[["[CLS]", "[SEP]"]].assign(**{"periods and commas": points["period"] + points["comma"]})
    return found.assign(**{OTHER: 1 - found.sum(axis=1)}).set_axis(pd.MultiIndex.from_frame(special[["layer", "head"]]))


def layer_shares(run: Run, measure: str) -> pd.DataFrame:
    """The same for the heads of each layer together: who gives out more counts for more."""
    of_heads = shares(run, measure)
    given = pd.Series(run[Strength(measure=measure)]["strength"].to_numpy(), index=of_heads.index)
    return of_heads.mul(given, axis=0).groupby("layer").sum().div(given.groupby("layer").sum(), axis=0)


def draw(run: Run) -> Figure:
    """Two grids of heads on one colour scale, and two bars a layer; a row is a layer in all three."""
    by_layer = {measure: layer_shares(run, measure) for measure in MEASURES}
    weight, norm = (by_layer[measure].mean() for measure in MEASURES)
    kind = str((weight - norm).abs().drop(OTHER).idxmax())
    grids = {measure: shares(run, measure)[kind].unstack("head") for measure in MEASURES}
    figure = Figure(figsize=(14, 6), dpi=100, facecolor="white")
    places = figure.add_gridspec(1, 2, left=0.045, right=0.612, top=0.76, bottom=0.13, wspace=0.1)
    most = max(grid.to_numpy().max() for grid in grids.values())
    for place, (measure, symbol) in enumerate(MEASURES.items()):
        axes = figure.add_subplot(places[place])
        _draw_heads(axes, grids[measure].to_numpy(), most)
        _finish(axes, f"Share on {kind}, by {symbol}")
    figure.axes[0].set_ylabel("layer", color=FAINT)
    axes = figure.add_axes((0.69, 0.13, 0.29, 0.63))
    _draw_layers(axes, by_layer)
    _finish(axes, "Where each layer's attention goes")
    headline = f"{percent(weight[kind])} of the attention weight goes to {kind}, but {percent(norm[kind])} of the norm"
    about = "The weight says how much a head looks at a token; the norm, how long a vector it takes from there."
    caption = (
        f"{run.title} reads “{TITLE}”, {run.manifest['counts']['tokens']:,} tokens. Numbers are percent; the headline is "
    )
    for y, size, line in ((0.93, 20, headline), (0.865, 12, about), (0.035, 9, f"{caption}the mean of the layers.")):
        figure.text(0.021, y, line, fontsize=size, fontweight="bold" if size == 20 else None, color=INK, va="center")
    return figure


def _draw_heads(axes: Any, grid: Any, most: float) -> None:
    axes.imshow(grid, cmap="cividis", vmin=0, vmax=most, aspect="auto")
    for (layer, head), share in [(place, grid[place]) for place in zip(*grid.nonzero(), strict=True)]:
        ink = INK if share > 0.6 * most else "white"
        axes.text(head, layer, f"{100 * share:.0f}", ha="center", va="center", fontsize=9, color=ink)
    layers, heads = grid.shape
    axes.set_xticks([edge - 0.5 for edge in range(1, heads)], minor=True)
    axes.set_yticks([edge - 0.5 for edge in range(1, layers)], minor=True)
    axes.grid(which="minor", color="white", linewidth=1.5)
    axes.set_xticks(range(heads))
    axes.set_yticks(range(layers))
    axes.set_xlabel("head", color=FAINT)


def _draw_layers(axes: Any, by_layer: dict[str, pd.DataFrame]) -> None:
    bars = [(measure, layer, row) for measure in MEASURES for layer, row in enumerate(by_layer[measure].to_dict("records"))]
    places = [layer + (-0.21 if measure == "weight" else 0.21) for measure, layer, _ in bars]
    for y, (_, _, row) in zip(places, bars, strict=True):
        start = 0.0
        for kind, share in row.items():
            axes.barh(y, share, left=start, height=0.37, color=KINDS[kind], edgecolor="white", linewidth=0.8)
            ink = "white" if KINDS[kind] in (VERMILION, BLUE) else INK
            if share >= WIDE_ENOUGH:
                axes.text(start + share / 2, y, f"{100 * share:.0f}%", ha="center", va="center", fontsize=9, color=ink)
            start += share
    axes.set_yticks(places, [f"{layer}  {measure}" if measure == "weight" else measure for measure, layer, _ in bars])
    axes.set(ylim=(max(places) + 0.29, -0.5), xlim=(0, 1), xticks=[])
    handles = [matplotlib.patches.Patch(color=colour, label=kind) for kind, colour in KINDS.items()]
    placed = {"loc": "upper center", "bbox_to_anchor": (0.44, -0.01), "ncols": 4, "handlelength": 1, "columnspacing": 1.4}
    axes.legend(handles=handles, frameon=False, fontsize=10, labelcolor=INK, handletextpad=0.5, **placed)


def _finish(axes: Any, title: str) -> None:
    axes.set_title(title, loc="left", fontsize=12.5, fontweight="bold", color=INK, pad=9)
    axes.tick_params(which="both", length=0, labelcolor=FAINT, labelsize=9.5)
    for spine in axes.spines.values():
        spine.set_visible(False)


def save(figure: Figure, folder: Path) -> list[Path]:
    """`demo.png` and `demo.svg`, each written whole or not at all; the same figure gives the same bytes."""
    with matplotlib.rc_context({"svg.hashsalt": "headscope"}):
        return [figures.write(figure, folder / name) for name in ("demo.png", "demo.svg")]
