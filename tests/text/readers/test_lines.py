"""Numbered lines: ends of lines, marks, encodings, NULs, long lines and damaged archives."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from pathlib import Path

import pytest

from headscope.text.readers.lines import Line, lines_of, numbered_lines


def texts(content: bytes) -> list[str]:
    lines = list(lines_of(io.BytesIO(content)))
    assert [line.number for line in lines] == list(range(1, len(lines) + 1))
    assert all(line.fault is None for line in lines)
    return [line.text for line in lines]


def test_ends_of_lines() -> None:
    assert texts(b"a\nb\r\n\r\nc\rd\n\n e ") == ["a", "b", "", "c\rd", "", " e "]
    assert texts(b"") == []
    assert texts("a\u2028b\x0bc\x85".encode("utf-8")) == ["a\u2028b\x0bc\x85"], "only \\n ends a line, as in editors"


def test_a_mark_at_the_start_is_no_text() -> None:
    assert texts(b"\xef\xbb\xbfone\n\xef\xbb\xbftwo") == ["one", "\ufefftwo"]


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"caf\xe9\n", "byte 0xe9 at position 4"),
        (b"a\0b\n", "NUL byte"),
        (b"x" * 100 + b"\n", "longer than 50 bytes"),
    ],
)
def test_a_bad_line_says_why_and_the_next_one_follows(content: bytes, fault: str) -> None:
    first, *rest = lines_of(io.BytesIO(content + b"good\n"), longest=50)
    assert first.number == 1
    assert fault in (first.fault or "")
    assert not first.blank
    assert rest == [Line(2, "good", None, len(content))]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_wide_encodings_have_no_good_line(encoding: str) -> None:
    lines = list(lines_of(io.BytesIO("one\ntwo\n".encode(encoding))))
    assert lines
    assert all(line.fault for line in lines)


def test_a_line_just_as_long_as_allowed() -> None:
    assert [line.fault for line in lines_of(io.BytesIO(b"x" * 49 + b"\n" + b"y" * 49), longest=50)] == [None, None]


def test_gzip_is_known_by_its_first_bytes(write: Callable[..., Path]) -> None:
    path = write(gzip.compress(b"one\ntwo\n"), "plain.txt")
    assert list(numbered_lines(path)) == [Line(1, "one"), Line(2, "two", None, 4)]


@pytest.mark.parametrize(
    "damage", [lambda packed: packed[:-9], lambda packed: packed[:-8] + b"x" * 8, lambda packed: packed[:3]]
)
def test_damaged_gzip_ends_with_a_fault(write: Callable[..., Path], damage: Callable[[bytes], bytes]) -> None:
    *before, last = numbered_lines(write(damage(gzip.compress(b"one\ntwo\n"))))
    assert "damaged from here on" in (last.fault or "")
    assert last.number == len(before) + 1


def test_a_file_that_is_gone(tmp_path: Path) -> None:
    (line,) = numbered_lines(tmp_path / "gone")
    assert line.fault == "the file cannot be read (No such file or directory)"
