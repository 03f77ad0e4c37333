"""The numbered lines of a text file, gzipped or not; a line that cannot be read says why, and the next one follows."""

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from headscope.remote import open_to_read

HEAD = 2**16  # bytes of a file by which its format is recognised
LONGEST = 2**24  # bytes in a line: more is no text, and would fill the memory
DAMAGED = (OSError, EOFError, zlib.error)
_GZIP = b"\x1f\x8b"
UTF8_MARK = b"\xef\xbb\xbf"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


class Line(NamedTuple):
    """A line without its end; `fault` says why its text could not be read."""

    number: int
    text: str
    fault: str | None = None
    offset: int = 0  # bytes before it, unpacked

    @property
    def blank(self) -> bool:
        return self.fault is None and not self.text.strip()


@contextmanager
def open_bytes(path: Path) -> Iterator[BinaryIO]:
    """The file's bytes, unpacked where its first bytes say that it is gzipped."""
    with open_to_read(path) as file:
        if file.peek(len(_GZIP))[: len(_GZIP)] != _GZIP:  # type: ignore[attr-defined]
            yield file
            return
        with gzip.open(file) as unpacked:
            yield cast(BinaryIO, unpacked)


def head_of(path: Path) -> bytes:
    """A file's first bytes, or as many as can be read: reading all of it says what is wrong, and in which line."""
    head = b""
    try:
        with open_bytes(path) as file:
            while len(head) < HEAD and (some := file.read1(HEAD - len(head))):  # type: ignore[attr-defined]
                head += some
    except DAMAGED:
        pass
    return head


def is_packed(path: Path) -> bool:
    """Whether one can only read it from its beginning."""
    with path.open("rb") as file:
        return file.read(len(_GZIP)) == _GZIP


def numbered_lines(path: Path, offset: int = 0, number: int = 1) -> Iterator[Line]:
    """Every line of the file, or those from the byte `offset` on, which is where line `number` begins.

    A file that breaks off (damaged, not to be opened) ends with a line that says so.
    """
    try:
        with open_bytes(path) as file:
            if offset:
                file.seek(offset)
            yield from lines_of(file, offset=offset, number=number)
    except OSError as error:
        yield Line(1, "", f"the file cannot be read ({error.strerror or error})")


def lines_of(file: BinaryIO, longest: int = LONGEST, *, offset: int = 0, number: int = 1) -> Iterator[Line]:
    """
    >>> import io
    >>> list(lines_of(io.BytesIO(b"one\\r\\ntwo")))
    [Line(number=1, text='one', fault=None, offset=0), Line(number=2, text='two', fault=None, offset=5)]
    """
    try:
        while raw := file.readline(longest):
            if len(raw) == longest and not raw.endswith(b"\n"):
                read = len(raw) + _read_on_to_line_end(file, longest)
                yield Line(number, "", f"the line is longer than {longest:,} bytes: break it into several", offset)
            else:
                read = len(raw)
                yield _decoded(number, raw, offset)
            number, offset = number + 1, offset + read
    except DAMAGED as error:
        yield Line(number, "", f"the file is damaged from here on ({error}): get it again", offset)


def _read_on_to_line_end(file: BinaryIO, at_a_time: int) -> int:
    """How many bytes that were."""
    read = 0
    while rest := file.readline(at_a_time):
        read += len(rest)
        if rest.endswith(b"\n"):
            break
    return read


def _decoded(number: int, raw: bytes, offset: int) -> Line:
    if number == 1:
        if raw.startswith(_UTF16_MARKS):
            return Line(number, "", "the file is UTF-16: convert it, for example with iconv -f utf-16 -t utf-8", offset)
        raw = raw.removeprefix(UTF8_MARK)
    raw = raw.removesuffix(b"\n").removesuffix(b"\r")
    if b"\0" in raw:
        return Line(number, "", "there is a NUL byte, so this is no text in UTF-8: convert the file", offset)
    try:
        return Line(number, raw.decode(), None, offset)
    except UnicodeDecodeError as error:
        found = f"byte 0x{raw[error.start]:02x} at position {error.start + 1}"
        return Line(number, "", f"the line is not UTF-8 ({found}): convert the file, for example with iconv", offset)
