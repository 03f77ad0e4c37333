"""--help in a terminal of 80 columns: whole, plain, with examples that the commands take; and Tab in a shell."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from headscope.cli import main
from headscope.cli.commands import COMMANDS, command_named
from headscope.cli.main import app


def pages() -> Iterator[tuple[str, ...]]:
    yield ()
    for name in COMMANDS:
        yield (name,)
        yield from ((name, below) for below in getattr(command_named(name), "commands", ()))


def command_of(page: tuple[str, ...]) -> Any:
    command = command_named(page[0]) if page else typer.main.get_command(app)
    return command.commands[page[1]] if page[1:] else command


def shown(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *page: str) -> str:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys, "argv", ["headscope", *page, "--help"])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("page", pages(), ids=lambda page: " ".join(page) or "headscope")
def test_help_is_whole_in_80_columns(monkeypatch, capsys, page: tuple[str, ...]) -> None:
    lines = shown(monkeypatch, capsys, *page).splitlines()
    assert max(map(len, lines)) <= 80
    assert not [line for line in lines if "…" in line or "[bold]" in line]
    assert not [line for line in lines if re.search(r"--[\w-]+-$", line)], "a flag is cut in two"
    assert all(one.help for one in command_of(page).params), "an option says nothing of itself"


def test_a_list_of_commands_says_each_in_a_line(monkeypatch, capsys) -> None:
    for page in ((), ("paper",)):
        listed = shown(monkeypatch, capsys, *page).partition("Commands:\n")[2].splitlines()
        assert listed
        assert all(re.match(r"  [\w-]+  +\S.*\.$", line) for line in listed)


def examples(text: str) -> list[list[str]]:
    below = text.partition("Examples:\n")[2].split("\n\n")[0].replace("\\\n", " ")
    return [shlex.split(line.split(" > ")[0]) for command in below.splitlines() for line in command.split(";")]


@pytest.mark.parametrize("page", [page for page in pages() if page and page != ("paper",)], ids=" ".join)
def test_the_commands_take_their_own_examples(monkeypatch, capsys, page: tuple[str, ...]) -> None:
    found = examples(shown(monkeypatch, capsys, *page))
    assert found
    for program, *given in found:
        assert program == "headscope"
        command = command_named(given.pop(0))
        if hasattr(command, "commands"):
            command = command.commands[given.pop(0)]
        command.make_context(command.name, given)  # an error, where it takes them not


def test_extras_are_named_where_they_are_needed(monkeypatch, capsys) -> None:
    assert "(extra: server)" in shown(monkeypatch, capsys)
    said = " ".join(shown(monkeypatch, capsys, "study").split())
    assert "a GGUF file (extra: gguf)" in said
    assert "spacy:PIPELINE (extra: spacy)" in said


# Completion

BIN = Path(sys.executable).parent


def bash(script: str, home: Path) -> str:
    """What a script prints in a bash of its own, with the command on its path."""
    here = {"HOME": str(home), "PATH": f"{BIN}:{os.environ['PATH']}"}
    stays = f"{script}\nexit $?"  # bash gives its place to a last command, which would then find make's sh above itself
    done = subprocess.run(["bash", "-c", stays], env={**os.environ, **here}, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_a_shell_completes_commands_and_flags(tmp_path: Path) -> None:
    (tmp_path / ".bashrc").write_text("")
    bash("headscope --install-completion", tmp_path)
    installed = (tmp_path / ".bashrc").read_text()
    assert "headscope" in installed
    press = (  # Tab
        'eval "$(cat ~/.bashrc)"; complete=$(complete -p headscope | sed "s/.*-F //; s/ .*//"); '
        "COMP_WORDS=(headscope {words}); COMP_CWORD={place}; $complete headscope; echo ${{COMPREPLY[@]}}"
    )
    assert bash(press.format(words="st", place=1), tmp_path).split() == ["study"]
    assert bash(press.format(words="study --rand", place=2), tmp_path).split() == ["--random-init"]
