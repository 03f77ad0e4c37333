"""The demo's picture: every head's share on one kind of token, and where each layer's attention goes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.figure import Figure
from torch import Tensor

from headscope.colours import BLUE, FAINT, INK, PALE, VERMILION, YELLOW
from headscope.demo import model
from headscope.demo.counts import KINDS, MEASURES, Counts
from headscope.demo.findings import NAMES, headline, widest_gap
from headscope.demo.observation import Observation
from headscope.demo.text import TITLE
from headscope.errors import HeadscopeError
from headscope.files import write_whole

COLOURS = {"cls": VERMILION, "sep": BLUE, "punctuation": YELLOW, "other": PALE}
INK_ON = {"cls": "white", "sep": "white", "punctuation": INK, "other": INK}
SYMBOLS = {"weight": "weight α", "norm": "norm ‖α f(x)‖"}
WIDE_ENOUGH = 0.05  # a smaller part of a bar has no room for its number


def draw(observation: Observation) -> Figure:
    """Two grids of heads on one colour scale, and two bars a layer; a row is a layer in all three."""
    counts = observation.counts
    gap = widest_gap(counts)
    figure = Figure(figsize=(14, 6), dpi=100, facecolor="white")
    grids = figure.add_gridspec(1, 2, left=0.045, right=0.612, top=0.76, bottom=0.19, wspace=0.1)
    by_weight, by_norm = figure.add_subplot(grids[0]), figure.add_subplot(grids[1])
    layers = figure.add_axes((0.69, 0.19, 0.29, 0.57))
    shares = {measure: counts.shares(measure)[gap.kind] for measure in MEASURES}
    most = max(float(share.max()) for share in shares.values())
    for axes, measure in ((by_weight, "weight"), (by_norm, "norm")):
        image = _draw_heads(axes, shares[measure], most)
        _title(axes, f"Share on {NAMES[gap.kind]}, by {SYMBOLS[measure]}")
    by_weight.set_ylabel("layer", color=FAINT)
    _draw_scale(figure, image, by_weight, by_norm)
    _draw_layers(layers, counts)
    figure.text(0.021, 0.93, headline(gap), fontsize=20, fontweight="bold", color=INK, va="center")
    figure.text(0.021, 0.865, _explained(), fontsize=12, color=FAINT, va="center")
    figure.text(0.021, 0.035, _caption(observation), fontsize=9, color=FAINT, va="center")
    return figure


def _draw_heads(axes: Any, shares: Tensor, most: float) -> Any:
    image = axes.imshow(shares.numpy(), cmap="cividis", vmin=0, vmax=most, aspect="auto")
    for layer, row in enumerate(shares.tolist()):
        for head, share in enumerate(row):
            ink = INK if share > 0.6 * most else "white"
            axes.text(head, layer, f"{100 * share:.0f}", ha="center", va="center", fontsize=9, color=ink)
    layers, heads = shares.shape
    axes.set_xticks([edge - 0.5 for edge in range(1, heads)], minor=True)
    axes.set_yticks([edge - 0.5 for edge in range(1, layers)], minor=True)
    axes.grid(which="minor", color="white", linewidth=1.5)
    axes.set_xticks(range(heads))
    axes.set_yticks(range(layers))
    axes.set_xlabel("head", color=FAINT)
    _plain(axes)
    return image


def _draw_scale(figure: Figure, image: Any, first: Any, last: Any) -> None:
    """One colour scale under both grids, because it is the same for both."""
    middle = (first.get_position().x0 + last.get_position().x1) / 2
    scale = figure.colorbar(image, cax=figure.add_axes((middle - 0.08, 0.127, 0.16, 0.02)), orientation="horizontal")
    scale.outline.set_visible(False)
    scale.ax.xaxis.set_major_formatter(lambda share, _: f"{100 * share:.0f}%")
    _plain(scale.ax)


def _draw_layers(axes: Any, counts: Counts) -> None:
    layers = len(counts.entropy)
    for measure, offset in (("weight", -0.21), ("norm", 0.21)):
        shares = counts.layer_shares(measure)
        for layer in range(layers):
            _draw_bar(axes, layer + offset, {kind: float(shares[kind][layer]) for kind in KINDS})
    names = [(layer + offset, name) for layer in range(layers) for offset, name in ((-0.21, "weight"), (0.21, "norm"))]
    axes.set_yticks([y for y, _ in names], [name for _, name in names])
    for layer in range(layers):
        axes.text(-0.165, layer, str(layer), ha="right", va="center", fontsize=9.5, color=FAINT)
    axes.set_ylim(layers - 0.5, -0.5)
    axes.set_xlim(0, 1)
    axes.set_xticks([])
    _plain(axes)
    _title(axes, "Where each layer's attention goes")
    handles = [matplotlib.patches.Patch(color=COLOURS[kind], label=NAMES[kind]) for kind in KINDS]
    axes.legend(
        handles=handles, loc="upper center", bbox_to_anchor=(0.44, -0.025), ncols=4, frameon=False, fontsize=10,
        handlelength=1, handleheight=1, columnspacing=1.4, handletextpad=0.5, labelcolor=INK,
    )  # fmt: skip


def _draw_bar(axes: Any, y: float, parts: dict[str, float]) -> None:
    start = 0.0
    for kind, share in parts.items():
        axes.barh(y, share, left=start, height=0.37, color=COLOURS[kind], edgecolor="white", linewidth=0.8)
        if share >= WIDE_ENOUGH:
            axes.text(start + share / 2, y, f"{100 * share:.0f}%", ha="center", va="center", fontsize=9, color=INK_ON[kind])
        start += share


def _title(axes: Any, title: str) -> None:
    axes.set_title(title, loc="left", fontsize=12.5, fontweight="bold", color=INK, pad=9)


def _plain(axes: Any) -> None:
    axes.tick_params(which="both", length=0, labelcolor=FAINT, labelsize=9.5)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _explained() -> str:
    return "The weight says how much a head looks at a token; the norm, how long a vector it takes from there."


def _caption(observation: Observation) -> str:
    layers, heads = observation.counts.entropy.shape
    return (
        f"{model.NAME}, {layers} layers of {heads} heads, reads “{TITLE}”: "
        f"{observation.sentences} sentences, {observation.tokens:,} tokens. Numbers are percent; "
        "the headline is the mean of the layers. Made by headscope demo."
    )


def make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise HeadscopeError(f"The folder {folder} cannot be made ({error.strerror}): choose another with -o.") from error


def save(figure: Figure, folder: Path) -> list[Path]:
    """`demo.png` and `demo.svg`, each written whole or not at all; the same figure gives the same bytes."""
    with matplotlib.rc_context({"svg.hashsalt": "headscope"}):
        return [
            _save_whole(figure, folder / "demo.png", metadata={"Software": "headscope"}),
            _save_whole(figure, folder / "demo.svg", metadata={"Creator": "headscope", "Date": None}),
        ]


def _save_whole(figure: Figure, path: Path, metadata: dict[str, str | None]) -> Path:
    write_whole(path, lambda unfinished: figure.savefig(unfinished, format=path.suffix[1:], metadata=metadata))
    return path
