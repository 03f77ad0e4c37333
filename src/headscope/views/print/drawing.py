"""draw: a content and a state as a figure for print; figure_bytes: that figure as a file, the same bytes every time."""

from __future__ import annotations

import warnings
from io import BytesIO
from typing import Any

from headscope.errors import InputError
from headscope.later import Figure, matplotlib
from headscope.views.content import Content
from headscope.views.print import head, matrix, model, neuron
from headscope.views.state import State

FIGURES = {"head": head.figure, "model": model.figure, "neuron": neuron.figure, "matrix": matrix.figure}

DOTS = 300  # per inch, of a PNG
# Text stays text, and nothing in a file depends on when or where it was made.
_WRITING: Any = {"svg.fonttype": "none", "pdf.fonttype": 42, "svg.hashsalt": "headscope", "image.composite_image": False}


def draw(content: Content, state: State) -> Figure:
    """The figure of a view, in the light: themes are for screens."""
    chosen = state.fitted(content)
    return FIGURES[chosen.view](content, chosen)


def figure_bytes(figure: Figure, kind: str) -> bytes:
    """The figure as svg, pdf or png."""
    title = figure.get_label() or "headscope"
    about: dict[str, dict[str, Any]] = {
        "svg": {"Creator": "headscope", "Date": None, "Title": title},
        "pdf": {"Creator": "headscope", "CreationDate": None, "Title": title},
        "png": {"Software": None, "Title": None},
    }
    if kind not in about:
        raise InputError(f"A figure is written as {', '.join(about)}, not as {kind!r}.")
    picture = BytesIO()
    with matplotlib.rc_context(_WRITING), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # no font here has it; the text itself is in the file
        figure.savefig(picture, format=kind, metadata=about[kind], dpi=DOTS)
    return picture.getvalue()
