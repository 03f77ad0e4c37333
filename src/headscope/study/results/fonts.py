"""Fonts within a PDF: the shapes of the letters that it shows, and nothing by which letters are set.

matplotlib has set the letters already, each at its place. What a font has for setting them (ligatures, kerning, formulas) no
reader of a PDF looks at, and to cut it down to a few letters takes longer than all the rest of the drawing.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from fontTools.subset import Options

FOR_SETTING = ["GSUB", "GPOS", "GDEF", "MATH", "kern"]  # tables of a font
_USUAL = "_drop_tables_default"


@contextmanager
def shapes_only() -> Iterator[None]:
    """Fonts that are embedded meanwhile have no tables for setting letters."""
    usual = getattr(Options, _USUAL, None)
    if usual is None:  # of another fontTools: its fonts are larger, and shown alike
        yield
        return
    setattr(Options, _USUAL, [*usual, *FOR_SETTING])
    try:
        yield
    finally:
        setattr(Options, _USUAL, usual)
