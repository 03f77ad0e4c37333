"""eflomal is called as a program: what it is given, what is made of its answers and failures, and the program itself."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from headscope.alignment.eflomal import PROGRAM, eflomal_links, find_program
from headscope.errors import InputError
from headscope.text import Document

PAIRS = [
    Document(words=["le", "chat", "noir"], target_words=["the", "black", "cat"]),
    Document(words=["10\u00a0000", "chats"], target_words=["10,000", "cats"]),
]


def program(folder: Path, body: str) -> Path:
    """A program of ours that is called as eflomal-align is; `options` has its files."""
    path = folder / PROGRAM
    path.write_text(
        f"#!{sys.executable}\nimport sys, time, subprocess\noptions = dict(zip(sys.argv[1::2], sys.argv[2::2]))\n{body}\n"
    )
    path.chmod(0o755)
    return path


ANSWER = """
open(options["-f"], "w").write("0-0 1-2 2-1\\n0-0\\n")
open(options["-r"], "w").write("0-0 1-2 1-1\\n0-0 1-1\\n")
"""


def test_what_the_program_gets_and_says(tmp_path: Path) -> None:
    keep = tmp_path / "seen"
    copy = f'open({str(keep)!r}, "wb").write(open(options["-s"], "rb").read() + b"--" + open(options["-t"], "rb").read())'
    found = eflomal_links(PAIRS, program(tmp_path, copy + ANSWER))
    # The no-break space would be a space to the program: its word would count as two, and shift all that follow.
    assert keep.read_bytes() == b"le chat noir\n10_000 chats\n--the black cat\n10,000 cats\n"
    assert found == [{(0, 0), (1, 2), (2, 1)}, {(0, 0)}]


def test_both_directions_are_joined(tmp_path: Path) -> None:
    path = program(tmp_path, ANSWER)
    assert eflomal_links(PAIRS, path, symmetrisation="intersection") == [{(0, 0), (1, 2)}, {(0, 0)}]
    assert eflomal_links(PAIRS, path, symmetrisation="union") == [{(0, 0), (1, 2), (2, 1), (1, 1)}, {(0, 0), (1, 1)}]
    with pytest.raises(InputError, match="intersection, union, grow-diag-final-and, not 'grow'"):
        eflomal_links(PAIRS, path, symmetrisation="grow")


def test_it_is_found_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    path = program(tmp_path, ANSWER)
    assert find_program() == path
    assert eflomal_links(PAIRS)[1] == {(0, 0)}


def test_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with pytest.raises(InputError, match="eflomal-align is not installed: get it with `pip install eflomal`"):
        eflomal_links(PAIRS)
    with pytest.raises(InputError, match="nowhere is not a program that can be run"):
        eflomal_links(PAIRS, tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ('sys.exit("broken\\nout of memory\\n\\n")', "failed with exit code 1; its last words were: out of memory"),
        ("sys.exit(3)", "failed with exit code 3; its last words were: nothing"),
        ("", "wrote no forward links: is this really eflomal-align"),
        ('open(options["-f"], "w").write("0-0\\n")\nopen(options["-r"], "w").write("\\n\\n")', "ends after line 1"),
        ('open(options["-f"], "w").write("0-3\\n\\n")', "the link 0-3 is outside its sentence"),
    ],
)
def test_failures_are_said(tmp_path: Path, body: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        eflomal_links(PAIRS, program(tmp_path, body))


def test_a_file_that_is_no_program(tmp_path: Path) -> None:
    path = tmp_path / PROGRAM
    path.write_text("#!/nowhere/python\n")
    path.chmod(0o755)
    with pytest.raises(InputError, match="cannot be run"):
        eflomal_links(PAIRS, path)


def test_time_limit_stops_what_the_program_has_started_too(tmp_path: Path) -> None:
    child = tmp_path / "child"
    started = f"open({str(child)!r}, 'w').write(str(subprocess.Popen(['sleep', '60']).pid))\ntime.sleep(60)"
    begun = time.monotonic()
    with pytest.raises(InputError, match="was stopped after 2 seconds"):
        eflomal_links(PAIRS, program(tmp_path, started), time_limit=2)
    assert time.monotonic() - begun < 20
    time.sleep(0.2)
    stat = Path("/proc") / child.read_text() / "stat"
    assert not stat.exists() or stat.read_text().split()[2] == "Z"


def test_a_pair_without_a_target_is_named(tmp_path: Path) -> None:
    path = program(tmp_path, ANSWER)
    with pytest.raises(InputError, match="Document 1 has no words on both sides"):
        eflomal_links([PAIRS[0], Document(words=["seul"])], path)
    assert eflomal_links([], path) == []


def test_the_program_itself() -> None:
    """Four words in every order: each goes with its translation, wherever it stands."""
    try:
        path = find_program()
    except InputError:
        pytest.skip("eflomal-align is not installed")
    pairs = {"un": "one", "deux": "two", "trois": "three", "dix\u00a0mille": "10,000"}
    source, documents = list(pairs), []
    for number in range(120):
        ordered = source[number % 4 :] + source[: number % 4]
        words = ordered[: 1 + number % 3]
        documents.append(Document(words=words, target_words=[pairs[word] for word in reversed(words)]))
    found = eflomal_links(documents, path, symmetrisation="intersection")
    right = [frozenset((place, len(d.words or ()) - 1 - place) for place in range(len(d.words or ()))) for d in documents]
    assert sum(links == gold for links, gold in zip(found, right, strict=True)) > 110
