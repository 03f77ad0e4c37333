"""Options: how a field of a paper's Data or Settings is given on the command line, and what is made of it.

A field of Settings without an option that says what it is about (`headscope.statistics.setting(help=)`) is set by --set.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from typing import Any

from headscope.errors import InputError
from headscope.lens import Lens, ModelSource
from headscope.statistics import Statistic
from headscope.text import FORMATS, Corpus
from headscope.text.readers.paths import find_files
from headscope.text.readers.recognise import recognise

OPTION = "option"  # among a field's metadata


@dataclass(frozen=True)
class Option:
    """What a command says of a field, the flags where they are not the field's name, and how its value is made.

    `made(source, given, **parts)` makes it, before the model of that source is opened, with the types and defaults of its
    signature; `parts` are further options for it by name, each with its own help. Without `made` the field is what was
    given. What the model decides on has a method `for_model(lens)`, which makes it when the model is open.
    """

    help: str
    flags: tuple[str, ...]
    least: int | None
    made: Callable[..., Any] | None
    parts: dict[str, str]


def option(
    default: Any, help: str, *flags: str, least: int | None = None, made: Callable[..., Any] | None = None, **parts: str
) -> Any:
    """A field with an option of its own."""
    return field(default=default, metadata={OPTION: Option(help, flags, least, made, parts)})


def setting_of(statistic: type[Statistic], name: str) -> Any:
    """A field that is handed to a statistic: its usual value, what it may be and what is said of it are the statistic's."""
    (one,) = [one for one in fields(statistic) if one.name == name]
    return field(default=one.default, metadata=one.metadata)


def trees(source: ModelSource, given: list[str] | None, unit: str | None = None) -> Corpus | None:
    """Sentences with their trees, or with unit="document" all those of a document together."""
    return Corpus.from_files(*given, unit=unit, needs="parents") if given else None


def with_mentions(source: ModelSource, given: list[str] | None) -> Corpus | None:
    """Documents with mentions: those of a treebank are what `# newdoc` begins, as a sentence has few antecedents."""
    return Corpus.from_files(*given, unit="document", needs="mentions") if given else None


def plain_text(files: Iterable[str], format: str, keep_marks: bool, otherwise: str = "") -> Corpus:
    """Plain text, cut in a way that the user did not choose: what is in another format is not taken for text.

    `otherwise` is what else one can do about a file in {format}.
    """
    for path in find_files(files):
        if (found := recognise(path)) is not None and not FORMATS[found].is_plain:
            raise InputError(f"{path} is {found}, not plain text: give one{otherwise.format(format=found)}.")
    return Corpus.from_files(*files, format=format, keep_marks=keep_marks)


@dataclass(frozen=True)
class Segments:
    """Plain text whose cut follows from the model: pairs of paragraphs, as in the papers, or for a decoder, which has no
    separators, single ones."""

    files: tuple[str, ...]
    keep_marks: bool = False

    def __post_init__(self) -> None:
        self._cut("paragraphs")  # says what is wrong with the files

    def for_model(self, lens: Lens) -> Corpus:
        return self._cut("paragraph-pairs" if lens.sites[0].stack == "encoder" else "paragraphs")

    def fingerprint(self) -> str:
        """Of what is known before the model is."""
        return f"segments of {self._cut('paragraphs').fingerprint()}"

    def _cut(self, format: str) -> Corpus:
        return plain_text(
            self.files, format, self.keep_marks, ", or have this read as what it is, with --text-format {format}"
        )


def segments(
    source: ModelSource, given: list[str] | None, text_format: str | None = None, keep_marks: bool = False
) -> Corpus | Segments | None:
    """Plain text, cut in a way that is named, or follows from the model."""
    if not given:
        return None
    if text_format is None:
        return Segments(tuple(given), keep_marks)
    return Corpus.from_files(*given, format=text_format, keep_marks=keep_marks)


UNIT = "What a treebank is read by: sentence, or document (from one # newdoc to the next). Default: sentence."
BY_WORD_HELP = "Tokenise the words of a treebank one by one, as the papers' code does, not the text that they were."
KEEP_MARKS = "Leave WikiText's marks, such as @-@, in the text; they are undone otherwise."
TEXT_FORMAT = "How the text is cut. Default: paragraph-pairs, or paragraphs for a decoder."
