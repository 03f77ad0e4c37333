"""How figures for papers look, and how they are written: SVG and PDF, the same bytes every time."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from headscope.colours import COLUMN, FAINT, INK
from headscope.files import write_whole
from headscope.later import Figure, Later, matplotlib

_STYLE: Any = {
    "font.size": 8,
    "axes.labelsize": 8,
    "axes.titlesize": 8.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "text.color": INK,
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "legend.fontsize": 7.5,
    "legend.frameon": False,
    "svg.fonttype": "none",  # text stays text
    "pdf.fonttype": 42,
    "svg.hashsalt": "headscope",
}
_LAID_OUT: Any = {"figure.autolayout": False, "figure.constrained_layout.use": False}  # whatever a user's own file says
_layout: Any = Later("headscope.study.results.layout", "SteadyLayout")
_lay_out: Any = Later("headscope.study.results.layout", "lay_out")
_shapes_only: Any = Later("headscope.study.results.fonts", "shapes_only")
_METADATA: Any = {  # no dates, so that the same figure gives the same bytes
    "svg": {"Creator": "headscope", "Date": None},
    "pdf": {"CreationDate": None},
    "png": {"Software": "headscope"},
}


def figure(
    rows: int = 1, columns: int = 1, *, width: float = COLUMN, height: float = 2.3, **options: Any
) -> tuple[Figure, Any]:
    """A figure in the house style, with its axes as an array (rows, columns)."""
    with matplotlib.rc_context(_STYLE):
        made = Figure(figsize=(width, height), layout=_layout(), facecolor="white")
        axes = made.subplots(rows, columns, squeeze=False, **options)
    return made, axes


def say(made: Figure, shown: str) -> None:
    """Write below a figure, which grows by this line, whose numbers it shows: the model, and the texts that it has read."""
    if not shown:
        return
    width, height = made.get_size_inches()
    lines = textwrap.wrap(shown, max(20, int((width - 0.12) / _LETTER)), break_on_hyphens=False)
    room = _LINE * len(lines) + 0.06
    made.set_size_inches(width, height + room)
    engine: Any = made.get_layout_engine()
    if engine is not None:
        engine.set(rect=(0, room / (height + room), 1, height / (height + room)))
    else:
        for axes in made.axes:
            box = axes.get_position(original=True)
            axes.set_position(
                (box.x0, (box.y0 * height + room) / (height + room), box.width, box.height * height / (height + room))
            )
    written: Any = {"fontsize": SAID, "color": FAINT, "ha": "left", "va": "bottom", "linespacing": 1.25, "parse_math": False}
    made.text(0.06 / width, 0.05 / (height + room), "\n".join(lines), gid="said", **written)


SAID = 6.0  # points of what is said below a figure
_LINE, _LETTER = 0.105, 0.048  # inches that a line of it is tall, and a letter wide


def save(made: Figure, stem: Path) -> list[Path]:
    """`stem.svg` and `stem.pdf`, each written whole or not at all. It is laid out once: both show the same."""
    svg, pdf = (stem.parent / f"{stem.name}.{kind}" for kind in ("svg", "pdf"))
    engine = made.get_layout_engine()
    with matplotlib.rc_context({**_STYLE, **_LAID_OUT}), _shapes_only():
        _lay_out(made)
        made.set_layout_engine(None)  # or each of the two would be drawn twice: the first time for its layout alone
        try:
            write(made, svg)
            write(made, pdf)
        finally:
            made.set_layout_engine(engine)
    return [svg, pdf]


def write(made: Figure, path: Path) -> Path:
    """A figure as what its path ends in."""
    kind = path.suffix[1:]
    write_whole(path, lambda unfinished: made.savefig(unfinished, format=kind, metadata=_METADATA[kind]))
    return path


def heads_by_layer(
    axes: Any, layers: Sequence[int], values: Sequence[float], label: str, colour: str, shift: float = 0
) -> None:
    """A point for every head over its layer, and a line through the layers' means; layers count from 1."""
    at = np.asarray(layers, dtype=float) + 1
    heights = np.asarray(values, dtype=float)
    axes.scatter(at + shift, heights, s=7, color=colour, alpha=0.55, linewidths=0, label=label)
    means = [(layer, np.nanmean(heights[at == layer])) for layer in np.unique(at) if np.isfinite(heights[at == layer]).any()]
    if means:
        axes.plot(*zip(*means, strict=True), color=colour, linewidth=1.1)


def layer_axis(axes: Any, layers: int) -> None:
    """Whole numbers on a layer axis."""
    axes.set_xlabel("Layer")
    axes.set_xlim(0.4, layers + 0.6)
    step = 1 if layers <= 8 else 2 if layers <= 16 else 4
    axes.set_xticks(range(step, layers + 1, step))


def legend(axes: Any, **options: Any) -> None:
    """A legend that covers no points: above the axes, unless said otherwise."""
    placed = {"loc": "lower left", "bbox_to_anchor": (-0.02, 1.0), "ncols": 4, "handletextpad": 0.3, "columnspacing": 1.1}
    axes.legend(**{**placed, "fontsize": 7.5, "borderaxespad": 0.2, "markerscale": 1.6, "frameon": False, **options})


def head_grid(table: Any, column: str) -> np.ndarray:
    """(layer, head) out of a table with one row a head."""
    return table.pivot(index="layer", columns="head", values=column).to_numpy(dtype=float)


def heatmap(axes: Any, values: np.ndarray, title: str, *, least: float | None = None, scale: bool = True) -> None:
    """Layers down, heads across, both from 0; `scale` draws what the colours mean beside it."""
    image = axes.imshow(values, cmap="cividis", vmin=least, aspect="auto", interpolation="nearest")
    axes.set_title(title, fontsize=8, fontweight="bold", loc="left", pad=3)
    layers, heads = values.shape
    axes.set_xticks(range(0, heads, 1 if heads <= 6 else 2 if heads <= 12 else 4))
    axes.set_yticks(range(0, layers, 1 if layers <= 6 else 2 if layers <= 12 else 5))
    axes.tick_params(length=0, labelsize=6.5)
    axes.spines[:].set_visible(False)
    if scale:
        colour_scale(image, [axes])


def colour_scale(image: Any, panels: Sequence[Any], label: str = "") -> None:
    """What the colours mean, beside some panels."""
    bar = image.figure.colorbar(image, ax=panels, fraction=0.05, pad=0.02)
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=6, length=0)
    if label:
        bar.set_label(label, fontsize=7)
