"""Files as the source of a corpus: one format for all of them, recognised or given."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from pathlib import Path
from typing import Any, Self

from headscope.errors import InputError
from headscope.text.document import Document
from headscope.text.readers.formats import FORMATS
from headscope.text.readers.line_blocks import Result
from headscope.text.readers.lines import is_packed, numbered_lines
from headscope.text.readers.paths import find_files, hash_of
from headscope.text.readers.places import NotPlain, Offsets, Place, filled_lines
from headscope.text.readers.recognise import misfits, recognise
from headscope.text.readers.rows import DEFAULT_COLUMN
from headscope.text.readers.text_form import form_of_file

LAYERS = {"tags": "parts of speech", "parents": "syntactic heads"}  # where a sentence calls them otherwise


class FileSource:
    """Files of one format, read one after the other, as often as one likes."""

    def __init__(
        self,
        given: Iterable[str | Path],
        format: str | None = None,
        unit: str | None = None,
        column: str | None = None,
        keep_marks: bool = False,
        needs: str | None = None,
    ) -> None:
        self.paths = find_files(given)
        if format is None:
            format, self.paths = recognise_all(self.paths)
        elif format not in FORMATS:
            raise InputError(f"There is no format {format!r}: choose one of {', '.join(FORMATS)}.")
        else:
            self.paths = _without_companions(dict.fromkeys(self.paths, format))
        if needs is not None and needs not in FORMATS[format].layers:
            raise InputError(_lacks(needs, format, self.paths[0]))
        self.format = format
        self.settings = _settings(format, unit, column, keep_marks)

    def read(self, start: Place | None = None) -> Iterator[Result]:
        """Every document, or those from a place on."""
        paths = self.paths
        if start is not None:
            first, *paths = paths[start.file :]
            lines = numbered_lines(first, start.offset, start.line)
            yield from FORMATS[self.format].read(first, lines=lines, **self.settings)
        for path in paths:
            yield from FORMATS[self.format].read(path, **self.settings)

    @property
    def has_places(self) -> bool:
        """Whether one can begin to read at any document."""
        return FORMATS[self.format].by_place and not any(not path.is_file() or is_packed(path) for path in self.paths)

    def placed(self) -> Iterator[tuple[Result, Place | None]]:
        """Every document with its place; what is wrong has none."""
        for number, path in enumerate(self.paths):
            lines = Offsets(numbered_lines(path))
            for result in FORMATS[self.format].read(path, lines=lines, **self.settings):
                place = None
                if isinstance(result, Document):
                    line = int(result.name.rpartition(":")[2])
                    place = Place(number, lines.of(line), line)
                yield result, place

    def places(self, every: int) -> tuple[int, list[Place]]:
        """How many documents there are, and the places of every so many: fast, for plain lines; NotPlain otherwise."""
        if self.format != "lines":
            raise NotPlain
        count = 0
        places: list[Place] = []
        for number, path in enumerate(self.paths):
            found, some = filled_lines(path, number, every, count)
            count, places = count + found, [*places, *some]
        return count, places

    def only(self, files: slice) -> Self:
        """The same of some of its files."""
        some = copy(self)
        some.paths = self.paths[files]
        return some

    def fingerprint(self) -> str:
        """sha256 over the settings and the files' bytes, not over their names: a corpus may move."""
        read = {"format": self.format, **self.settings, **self._forms()}
        digest = hashlib.sha256(json.dumps(read, sort_keys=True).encode())
        for path in self._all_files():
            digest.update(bytes.fromhex(hash_of(path)))
        return digest.hexdigest()

    def describe(self) -> dict[str, Any]:
        read = {"format": self.format, **self.settings, **self._forms()}
        return {"paths": [str(path) for path in self.paths], **read, "bytes": self.size}

    @property
    def size(self) -> int:
        """Bytes of all its files."""
        return sum(path.stat().st_size for path in self._all_files() if path.exists())

    def _forms(self) -> dict[str, dict[str, int]]:
        """Of plain text, how many files have a form of their own: WikiText, or a paragraph a line."""
        if not FORMATS[self.format].is_plain:
            return {}
        found = Counter(form for path in self.paths if (form := form_of_file(path)) is not None)
        return {"forms": dict(sorted(found.items()))} if found else {}

    def _all_files(self) -> list[Path]:
        return [file for path in self.paths for file in FORMATS[self.format].files(path)]


def recognise_all(paths: list[Path]) -> tuple[str, list[Path]]:
    """The one format of all files, and the files without those that only belong to another."""
    recognised = {path: recognise(path) for path in paths}
    paths = _without_companions(recognised)
    examples: dict[str, Path] = {}
    for path in paths:
        if (name := recognised[path]) is not None:
            examples.setdefault(name, path)
    if len(examples) > 1:
        (one, first), (other, second), *_ = examples.items()
        raise InputError(
            f"{first} looks like {one} and {second} like {other}, but a corpus has one format: "
            "name the files that belong to it, or give format=."
        )
    return next(iter(examples), "lines"), paths


def _lacks(layer: str, format: str, path: Path) -> str:
    with_it = [name for name, known in FORMATS.items() if layer in known.layers]
    found = misfits(path)
    why = "; ".join(f"{name}: {found[name] or 'it fits'}" for name in with_it)
    return f"{path} is read as {format}, which has no {LAYERS.get(layer, layer)} ({why}): give a file that has them."


def _without_companions(formats: Mapping[Path, str | None]) -> list[Path]:
    """Of files and their formats, those that are not read along with another: an annotation's own text is."""
    beside = {file for path, name in formats.items() if name for file in FORMATS[name].files(path) if file != path}
    return [path for path in formats if path not in beside]


def _settings(format: str, unit: str | None, column: str | None, keep_marks: bool) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    units = FORMATS[format].units
    if unit is not None and unit not in units:
        choice = f"choose one of {', '.join(units)}" if units else "leave the unit out"
        raise InputError(f"The format {format} has no unit {unit!r}: {choice}.")
    if len(units) > 1:
        settings["unit"] = unit or units[0]
    if column is not None and not FORMATS[format].has_columns:
        raise InputError(f"The format {format} has no columns to choose from: leave column= out.")
    if FORMATS[format].has_columns:
        settings["column"] = column or DEFAULT_COLUMN
    if keep_marks and not FORMATS[format].is_plain:
        raise InputError(f"The format {format} is not plain text, which WikiText's marks are in: leave them out of it.")
    if keep_marks:
        settings["keep_marks"] = True
    return settings
