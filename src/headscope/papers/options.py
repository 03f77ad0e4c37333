"""Options: how a field of a paper's Data or Settings is given on the command line, and what is made of it.

A field says it in its type, `segments: Annotated[int, Option("Segments of the text to read.", least=1)] = 1000`; one that
says nothing is set from Python only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

from headscope.lens.lens import Lens
from headscope.text import Corpus


class Option:
    """What a command says of a field, the flags where they are not the field's name, and how its value is made.

    `made(lens, given, **parts)` makes it, with the types and defaults of its signature; `parts` are further options for it
    by name, each with its own help. Without `made` the field is what was given.
    """

    def __init__(
        self, help: str, *flags: str, least: int | None = None, made: Callable[..., Any] | None = None, **parts: str
    ) -> None:
        self.help, self.flags, self.least, self.made, self.parts = help, flags, least, made, parts


class OptionField(NamedTuple):
    """A field that is given on the command line."""

    name: str
    kind: Any
    default: Any
    option: Option


def option_fields(owner: type) -> Iterator[OptionField]:
    """Those of a dataclass."""
    hints = get_type_hints(owner, include_extras=True)
    for field in fields(owner):
        if get_origin(hints[field.name]) is Annotated:
            kind, option = get_args(hints[field.name])
            yield OptionField(field.name, kind, field.default, option)


def files(lens: Lens, given: list[str] | None) -> Corpus | None:
    """A corpus of files, folders or globs; the format is recognised."""
    return Corpus.from_files(*given) if given else None


def segments(lens: Lens, given: list[str] | None, text_format: str | None = None) -> Corpus | None:
    """Plain text in pairs of paragraphs, as in the papers; in single ones for a decoder, which has no separators."""
    usual = "paragraph-pairs" if lens.sites[0].stack == "encoder" else "paragraphs"
    return Corpus.from_files(*given, format=text_format or usual) if given else None


TEXT_FORMAT = "How the text is cut. Default: paragraph-pairs, or paragraphs for a decoder."
