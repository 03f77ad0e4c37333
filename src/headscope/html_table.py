"""Small tables for notebooks. What is in them is text, and they have no colours of their own: they fit light and dark."""

from collections.abc import Iterable, Sequence
from html import escape

LONGEST = 300  # characters of a cell
_CELL = ' dir="auto" style="text-align: left; vertical-align: top; white-space: pre-wrap"'


def html_table(
    rows: Iterable[Sequence[object]], header: Sequence[str] = (), *, title: str = "", about: str = "", below: str = ""
) -> str:
    """A table with a line above it and one below. A row that is shorter than others is not filled up.

    >>> html_table([["<s>", 1]]).count("&lt;s&gt;"), "<s>" in html_table([["<s>", 1]], title="<s>")
    (1, False)
    """
    heading = f"<b>{_text(title)}</b> {_text(about)}".strip() if title or about else ""
    parts = [_line(heading), _table([list(row) for row in rows], header), _line(_text(below))]
    return f'<div class="headscope">{"".join(parts)}</div>'


def _table(rows: list[list[object]], header: Sequence[str]) -> str:
    if not rows:
        return ""
    head = "".join(f"<th{_CELL}>{_text(name)}</th>" for name in header)
    body = "".join(f"<tr>{''.join(f'<td{_CELL}>{_text(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table>{f'<thead><tr>{head}</tr></thead>' if header else ''}<tbody>{body}</tbody></table>"


def _line(markup: str) -> str:
    return f'<p dir="auto" style="margin: 0.3em 0">{markup}</p>' if markup else ""


def _text(value: object) -> str:
    """Escaped, and cut where it is long; half a character, which no page can hold, is left out."""
    whole = str(value).encode("utf-8", "replace").decode()
    return escape(whole if len(whole) <= LONGEST else f"{whole[: LONGEST - 2]} …")
