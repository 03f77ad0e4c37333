"""Options: how a field of a paper's Data or Settings is given on the command line, and what is made of it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from headscope.lens.lens import Lens
from headscope.text import Corpus

OPTION = "option"  # among a field's metadata


@dataclass(frozen=True)
class Option:
    """What a command says of a field, the flags where they are not the field's name, and how its value is made.

    `made(lens, given, **parts)` makes it, with the types and defaults of its signature; `parts` are further options for it
    by name, each with its own help. Without `made` the field is what was given.
    """

    help: str
    flags: tuple[str, ...]
    least: int | None
    made: Callable[..., Any] | None
    parts: dict[str, str]


def option(
    default: Any, help: str, *flags: str, least: int | None = None, made: Callable[..., Any] | None = None, **parts: str
) -> Any:
    """A field with an option; one that has none is set from Python only."""
    return field(default=default, metadata={OPTION: Option(help, flags, least, made, parts)})


def trees(lens: Lens, given: list[str] | None, unit: str | None = None) -> Corpus | None:
    """Sentences with their trees, or with unit="document" all those of a document together."""
    return Corpus.from_files(*given, unit=unit, needs="parents") if given else None


def with_mentions(lens: Lens, given: list[str] | None) -> Corpus | None:
    """Documents with mentions: those of a treebank are what `# newdoc` begins, as a sentence has few antecedents."""
    return Corpus.from_files(*given, unit="document", needs="mentions") if given else None


def segments(lens: Lens, given: list[str] | None, text_format: str | None = None, keep_marks: bool = False) -> Corpus | None:
    """Plain text in pairs of paragraphs, as in the papers; in single ones for a decoder, which has no separators."""
    usual = "paragraph-pairs" if lens.sites[0].stack == "encoder" else "paragraphs"
    return Corpus.from_files(*given, format=text_format or usual, keep_marks=keep_marks) if given else None


UNIT = "What a treebank is read by: sentence, or document (from one # newdoc to the next). Default: sentence."
BY_WORD_HELP = "Tokenise the words of a treebank one by one, as the papers' code does, not the text that they were."
KEEP_MARKS = "Leave WikiText's marks, such as @-@, in the text; they are undone otherwise."
TEXT_FORMAT = "How the text is cut. Default: paragraph-pairs, or paragraphs for a decoder."
