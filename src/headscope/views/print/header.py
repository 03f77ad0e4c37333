"""What stands above and below a view: what is drawn, and what must be known to read it."""

from collections.abc import Sequence

from headscope.colours import FAINT
from headscope.views.content import Attention, Content
from headscope.views.print.sheet import MARGIN, Sheet, fitted, width_of
from headscope.views.print.shown import Shown

LINE = 0.13  # inches from one line of text to the next
HEAD = 0.2  # inches of the line above a view
SMALL = 6.2  # points


def measure_name(measure: str) -> str:
    """A measure as it is written in a sentence.

    >>> measure_name("joint_norm")
    'joint norm'
    """
    return measure.replace("_", " ")


def where(content: Content, attention: Attention) -> str:
    """`decoder cross, layer 3`: the stack only where a model has several."""
    layer = f"layer {attention.layer}"
    return layer if len(content.groups) == 1 else f"{attention.group}, {layer}"


def compared(content: Content, found: Shown) -> list[str]:
    """What A and B are, and what the colours of their difference mean."""
    if content.compared is None:
        return []
    a, b = content.compared.a, content.compared.b
    what = f"A is read by {a.model}, B by {b.model}." if a.model != b.model else f"A: {a.title} B: {b.title}"
    if not found.difference:
        return [what]
    alone = any(change in ("put in", "left out") for change in found.queries.changes)
    rows = ["What only one of them has gives nothing here: there is nothing to compare it with."] if alone else []
    return [what, "Blue is more in B than in A, orange less.", *rows]


def write_head(sheet: Sheet, text: str) -> None:
    """One bold line at the top."""
    sheet.text(MARGIN, HEAD / 2 + 0.01, text[:1].upper() + text[1:], 7.5, weight="bold")


def wrapped(notes: Sequence[str], width: float) -> list[str]:
    """Sentences in lines that fit a width."""
    lines: list[str] = []
    for word in " ".join(notes).split():
        if lines and width_of(f"{lines[-1]} {word}", SMALL) <= width - 2 * MARGIN:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def notes_of(content: Content, notes: Sequence[str], width: float) -> list[str]:
    """The lines below a view: its notes, and whose they are: which model has read which text, in one line."""
    lines = wrapped(notes, width)
    if not content.model:  # arrays of one's own
        return lines
    return [*lines, fitted(f"{content.model} · {content.title}", SMALL, width - 2 * MARGIN)]


def notes_height(lines: Sequence[str]) -> float:
    """Inches below a view that its notes take."""
    return LINE * len(lines) + 0.06 if lines else MARGIN


def write_notes(sheet: Sheet, lines: Sequence[str]) -> None:
    """Small lines at the very bottom."""
    top = sheet.height - notes_height(lines)
    for place, line in enumerate(lines):
        sheet.text(MARGIN, top + LINE * (place + 0.5), line, SMALL, color=FAINT)
