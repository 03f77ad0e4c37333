"""A logit's parts in a file: as a figure, or as a page: an atlas of heads, and the parts of each at every position."""

from __future__ import annotations

from pathlib import Path

from headscope.files import write_bytes
from headscope.lens.head import Head
from headscope.views.logit_parts import logit_parts
from headscope.views.pack import pack
from headscope.views.page import view_page
from headscope.views.print.drawing import figure_bytes
from headscope.views.print.logits import draw_logits
from headscope.views.show import view_of
from headscope.views.view import View
from headscope.writing.logits import Logits


def save_logits(found: Logits, path: str | Path, head: str | Head | None = None) -> Path:
    """What the path ends in; a page opens at the head, and at the position whose logit it is."""
    path = Path(path)
    kind = View.check_kind(path)
    if kind != ".html":
        write_bytes(path, figure_bytes(draw_logits(found, head), kind[1:]))
        return path
    chosen = found.head(head)
    view = view_of(
        "head", found.reading, measures=["projection", "weight"], measure="projection", keep=[f"q{found.position}"],
        attention=f"{chosen.stack} {chosen.kind}", layer=chosen.layer, heads=[chosen.head], without_sinks=False,
        title=found.said,
    )  # fmt: skip
    written = view_page(pack(view.content, exact=view.exact), view.state.fragment(), logit_parts(found))
    write_bytes(path, written.encode())
    return path
