"""Which fonts draw a text: DejaVu Sans, and for what it has no letters for, what this machine has."""

from __future__ import annotations

from functools import cache

from headscope.later import matplotlib

OWN = "DejaVu Sans"  # comes with matplotlib, so that figures look alike everywhere
# Families that have many letters. No colour emoji: they are pictures, which matplotlib does not draw.
WIDE = (
    "Noto Sans", "Noto Emoji", "Noto Naskh", "Source Han", "WenQuanYi", "Droid Sans Fallback", "IPA", "Symbola", "Unifont",
    "FreeSans", "Arial Unicode", "Microsoft YaHei", "Malgun", "PingFang", "Hiragino", "Apple Symbols", "Segoe UI Symbol",
)  # fmt: skip


@cache
def families_for(text: str) -> tuple[str, ...]:
    """The families to draw a text with, the usual one first; others only where it lacks a letter that they have.

    >>> families_for("café")
    ('DejaVu Sans', 'sans-serif')
    """
    missing = {ord(character) for character in text} - letters_of(matplotlib.font_manager.findfont(OWN))
    found = []
    for family, path in _installed():
        if not missing:
            break
        has = missing & letters_of(path)
        if has:
            found.append(family)
            missing -= has
    return (OWN, *found, "sans-serif")


def font(text: str, size: float, weight: str = "normal") -> matplotlib.font_manager.FontProperties:
    """The font of one label, in points."""
    return matplotlib.font_manager.FontProperties(family=list(families_for(text)), size=size, weight=weight)


@cache
def letters_of(path: str) -> frozenset[int]:
    """The characters that a font file has; none where it cannot be opened."""
    try:
        return frozenset(matplotlib.ft2font.FT2Font(path).get_charmap())
    except (OSError, RuntimeError):
        return frozenset()


@cache
def _installed() -> tuple[tuple[str, str], ...]:
    """Family and file of every wide font here, always in the same order."""
    upright = {
        (entry.name, str(entry.fname))
        for entry in matplotlib.font_manager.fontManager.ttflist
        if entry.name.startswith(WIDE) and entry.style == "normal" and entry.weight == 400
    }
    return tuple(sorted(upright, key=lambda pair: ([not pair[0].startswith(name) for name in WIDE], pair)))
