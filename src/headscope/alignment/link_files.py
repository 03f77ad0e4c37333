"""Files of links, one sentence pair after the other: Pharaoh (`0-0 1p2`, a line a sentence) and NAACL (`0001 1 2 S`)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain, zip_longest
from pathlib import Path
from typing import Literal, NamedTuple

from headscope.errors import InputError
from headscope.files import write_whole
from headscope.remote import as_path
from headscope.text.links import Links, Pair
from headscope.text.readers.lines import Line, numbered_lines

Side = Literal["source", "target"]
Format = Literal["pharaoh", "naacl"]
Lengths = tuple[int, int]  # words of the source, words of the target

BASES: dict[str, int] = {"pharaoh": 0, "naacl": 1}  # from what number each format counts words, where nothing else is said
_OTHER: dict[Side, Side] = {"source": "target", "target": "source"}

_NUMBER = "[0-9]{1,9}"
_REAL = r"[-+]?[0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?"
_LINK = re.compile(rf"({_NUMBER})([-p?])({_NUMBER})(?:[:/]{_REAL})?")
_ROW = re.compile(rf"({_NUMBER})\s+({_NUMBER})\s+({_NUMBER})(?:\s+([SP]))?(?:\s+{_REAL})?")


class _Link(NamedTuple):
    """A link as the file has it: its numbers in the file's order, counted as the file counts."""

    line: int
    first: int
    second: int
    sure: bool


class _Sentence(NamedTuple):
    line: int
    links: list[_Link]


_Checked = tuple[_Sentence, Lengths | None]


class SidesExchanged(InputError):
    """Links that fit if source and target are exchanged: in the links or in the texts, which numbers cannot tell."""

    def __init__(self, wrong: str, flags: str, other_flags: str) -> None:
        self.wrong, self.flags, self.other_flags = wrong, flags, other_flags
        super().__init__(self.said("the source", "the texts the other way round"))

    def said(self, source: str, exchanged: str) -> str:
        """`source` is shown to who can tell its language; `exchanged` is how the texts are given the other way round."""
        instead = " and ".join(filter(None, [self.other_flags, exchanged]))
        return (
            f"{self.wrong}: source and target look exchanged. If the model translates from the language of {source}, "
            f"the links have the other side first: give {self.flags}. If not, the texts are the wrong way round: give "
            f"{instead}."
        )

    def __reduce__(self) -> tuple[type[SidesExchanged], tuple[str, str, str]]:
        return type(self), (self.wrong, self.flags, self.other_flags)


def read_links(
    path: str | Path,
    lengths: Iterable[Lengths] | None = None,
    *,
    format: Literal["auto", "pharaoh", "naacl"] = "auto",
    base: int | None = None,
    first: Side = "source",
) -> Iterator[Links]:
    """The links of each sentence pair in turn; with the sentences' lengths, every link is checked against them.

    `i-j` is sure, `ipj` and `i?j` are possible; in NAACL, S (or nothing) and P. Probabilities are dropped. `base` is the
    number of the first word in the file, by default 0 in Pharaoh and 1 in NAACL; `first` is the side whose number stands
    first. NAACL leaves sentences without links out: they are filled in, those at the end only if the lengths are given.
    """
    path = as_path(path)
    _check_settings(format, base, first, ("auto", *BASES))
    return _read(path, lengths, format, base, first)


def write_links(
    path: str | Path, links: Iterable[Links], *, format: Format = "pharaoh", base: int | None = None, first: Side = "source"
) -> None:
    """A file that read_links reads back, whole or not at all."""
    _check_settings(format, base, first, tuple(BASES))
    start = BASES[format] if base is None else base

    def write(unfinished: Path) -> None:
        with unfinished.open("w", encoding="utf-8", newline="\n") as file:
            for number, sentence in enumerate(links, 1):
                pairs = [(_numbers(pair, start, first), pair in sentence.sure) for pair in sorted(sentence.possible)]
                if format == "pharaoh":
                    file.write(" ".join(f"{one}{'-' if sure else 'p'}{other}" for (one, other), sure in pairs) + "\n")
                else:
                    file.writelines(f"{number:04d} {one} {other} {'S' if sure else 'P'}\n" for (one, other), sure in pairs)

    write_whole(as_path(path), write)


def _read(path: Path, lengths: Iterable[Lengths] | None, format: str, base: int | None, first: Side) -> Iterator[Links]:
    lines = _readable(numbered_lines(path), path)
    if format == "auto":
        format, lines = _recognised(lines)
    base = BASES[format] if base is None else base
    sentences = _naacl(lines, path) if format == "naacl" else _pharaoh(lines, path)
    both = ((sentence, None) for sentence in sentences) if lengths is None else _matched(sentences, lengths, format, path)
    read: list[_Checked] = []
    for sentence, length in both:
        if lengths is not None:
            read.append((sentence, length))  # gold links are few; of others there is nothing that they could be checked with
        for link in sentence.links:
            if not _fits(_pair(link, base, first), length):
                all_links = [*(read or [(sentence, length)]), *_readable_rest(both)]
                raise _out_of_range(link, length, all_links, base, first, path)
        yield _links(sentence, base, first)


def _matched(
    sentences: Iterable[_Sentence], lengths: Iterable[Lengths], format: str, path: Path
) -> Iterator[tuple[_Sentence, Lengths]]:
    """Each sentence with its length; InputError where there are more of one than of the other."""
    for count, (sentence, length) in enumerate(zip_longest(sentences, lengths)):
        if length is None:
            raise InputError(
                f"{path}, line {sentence.line}: there are links for more sentences than the {count} of the texts: "
                "check that the file belongs to these texts."
            )
        if sentence is None and format == "pharaoh":
            raise InputError(
                f"{path} ends after line {count}, but the texts have more sentences: "
                "check that the file belongs to these texts, and that it has a line, if only a blank one, for each."
            )
        yield sentence or _Sentence(0, []), length


def _readable_rest(both: Iterable[_Checked]) -> Iterator[_Checked]:
    """What follows, up to what is wrong in another way."""
    with suppress(InputError):
        yield from both


def _check_settings(format: str, base: int | None, first: str, formats: tuple[str, ...]) -> None:
    if format not in formats:
        raise InputError(f"There is no format of links {format!r}: give --gold-format {'|'.join(formats)}.")
    if base not in (None, 0, 1):
        raise InputError(f"Words are counted from 0 or from 1, not from {base!r}: give --gold-base 0|1.")
    if first not in _OTHER:
        raise InputError(f"The side that stands first is source or target, not {first!r}: give --gold-first source|target.")


def _readable(lines: Iterable[Line], path: Path) -> Iterator[Line]:
    for line in lines:
        if line.fault is not None:
            raise InputError(f"{path}, line {line.number}: {line.fault}.")
        yield line


def _recognised(lines: Iterator[Line]) -> tuple[str, Iterator[Line]]:
    """The format, by the first line that is not blank, and all lines again: a pipe can be read only once."""
    begun: list[Line] = []
    for line in lines:
        begun.append(line)
        if not line.blank:
            break
    format = "naacl" if begun and _ROW.fullmatch(begun[-1].text.strip()) else "pharaoh"
    return format, chain(begun, lines)


def _pharaoh(lines: Iterable[Line], path: Path) -> Iterator[_Sentence]:
    for line in lines:
        links = []
        for written in line.text.split():
            match = _LINK.fullmatch(written)
            if match is None:
                raise InputError(
                    f"{path}, line {line.number}: {written[:40]!r} is no link such as 3-4 (sure) or 3p4 (possible): "
                    "correct it, or give --gold-format naacl if the file has a link a line."
                )
            links.append(_Link(line.number, int(match[1]), int(match[3]), match[2] == "-"))
        yield _Sentence(line.number, links)


def _naacl(lines: Iterable[Line], path: Path) -> Iterator[_Sentence]:
    """Sentences are numbered from 1, or from 0 where the file begins with a 0, whatever the words are counted from."""
    sentence: _Sentence | None = None
    current = 0
    for line in lines:
        if line.blank:
            continue
        match = _ROW.fullmatch(line.text.strip())
        if match is None:
            raise InputError(
                f"{path}, line {line.number}: {line.text.strip()[:40]!r} is no row such as `0001 3 4 S` "
                "(sentence, word, word, S or P): correct it, or give --gold-format pharaoh if it has a sentence a line."
            )
        number = int(match[1])
        if sentence is None:
            sentence, current = _Sentence(line.number, []), min(number, 1)
        if number < current:
            raise InputError(
                f"{path}, line {line.number}: sentence {number} comes after sentence {current}: "
                "sort the file by its first column."
            )
        while current < number:
            yield sentence
            sentence, current = _Sentence(line.number, []), current + 1
        sentence.links.append(_Link(line.number, int(match[2]), int(match[3]), match[4] != "P"))
    if sentence is not None:
        yield sentence


def _links(sentence: _Sentence, base: int, first: Side) -> Links:
    by_kind: dict[bool, list[Pair]] = {True: [], False: []}
    for link in sentence.links:
        by_kind[link.sure].append(_pair(link, base, first))
    return Links(frozenset(by_kind[True]), frozenset(by_kind[False]))


def _pair(link: _Link, base: int, first: Side) -> Pair:
    one, other = link.first - base, link.second - base
    return (one, other) if first == "source" else (other, one)


def _numbers(pair: Pair, base: int, first: Side) -> Pair:
    """The two numbers that a file has for a pair: the inverse of _pair."""
    one, other = pair if first == "source" else pair[::-1]
    return one + base, other + base


def _fits(pair: Pair, length: Lengths | None) -> bool:
    return min(pair) >= 0 and (length is None or (pair[0] < length[0] and pair[1] < length[1]))


def _out_of_range(
    link: _Link, length: Lengths | None, checked: Sequence[_Checked], base: int, first: Side, path: Path
) -> InputError:
    """What is wrong with a link, and the flags with which all links of the file would be right."""

    def would_fit(base: int, first: Side) -> bool:
        return all(_fits(_pair(other, base, first), length) for sentence, length in checked for other in sentence.links)

    by_base, by_first = f"--gold-base {1 - base}", f"--gold-first {_OTHER[first]}"
    words = "" if length is None else f" of {length[0]} source and {length[1]} target words"
    wrong = f"{path}, line {link.line}: the link {link.first}-{link.second} is outside its sentence{words}, "
    wrong += f"counting from {base} with the {first} first"
    or_none = ", or leave the link out if 0 stands for no word" if 0 in (link.first, link.second) and base == 1 else ""
    if would_fit(1 - base, first):
        return InputError(f"{wrong}: give {by_base}{or_none}.")
    for flags, other_base in (([by_first], base), ([by_base, by_first], 1 - base)):
        if length is not None and would_fit(other_base, _OTHER[first]):
            return SidesExchanged(wrong, " ".join(flags), " ".join(flags[:-1]))
    return InputError(f"{wrong}: check that the file belongs to these texts{or_none}.")
