"""View: something to look at. It shows itself in notebooks, and saves itself as a page or as a figure."""

from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from headscope.errors import InputError
from headscope.files import write_bytes
from headscope.views.content import Content
from headscope.views.frame import frame
from headscope.views.pack import pack
from headscope.views.page import view_page
from headscope.views.print import draw, figure_bytes
from headscope.views.state import VIEWS, State

KINDS = (".html", ".svg", ".pdf", ".png")


class View:
    """What `head_view`, `model_view`, `neuron_view` and `matrix_view` return.

    The last line of a notebook cell shows it; `save("x.html")` writes a page that needs nothing else, `save("x.svg")`,
    `.pdf` and `.png` a figure for print.
    """

    def __init__(self, content: Content, state: State, *, exact: bool = False, height: int | None = None) -> None:
        self.content, self.state, self.exact = content, state, exact
        self.fitted = state.fitted(content)  # complains now, not when it is drawn
        self.height = height  # of its frame in a notebook; None: as high as what it shows

    def html(self) -> str:
        """The page, whole: nothing is loaded from anywhere."""
        return view_page(pack(self.content, exact=self.exact), self.state.fragment())

    @property
    def data(self) -> str:
        """The page, by the name that IPython's HTML has for it: bertviz's functions return one."""
        return self.html()

    def figure(self) -> Any:
        """The figure for print, a matplotlib Figure."""
        return draw(self.content, self.fitted)

    def save(self, path: str | Path) -> Path:
        """Write the view whole or not at all: .html, .svg, .pdf or .png."""
        path = Path(path)
        kind = self.check_kind(path)
        write_bytes(path, self.html().encode() if kind == ".html" else figure_bytes(self.figure(), kind[1:]))
        return path

    @staticmethod
    def check_kind(path: Path) -> str:
        """The ending of a file that a view can be saved as."""
        kind = path.suffix.lower()
        if kind not in KINDS:
            raise InputError(f"{path}: a view is saved as one of {', '.join(KINDS)}; choose such a name.")
        return kind

    def with_state(self, **changes: Any) -> Self:
        """The same content with other choices: view.with_state(layer=3, measure="norm")."""
        return type(self)(self.content, replace(self.state, **changes), exact=self.exact, height=self.height)

    def _repr_html_(self) -> str:
        first = self.height or VIEWS[self.state.view]
        return frame(self.html(), f"headscope: {self.content.title}", first, grows=self.height is None)

    def __repr__(self) -> str:
        return f"<View {self.state.view}: {self.content.title!r}; .save('x.html') writes it>"
