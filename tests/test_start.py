"""Commands start at once: what is not needed is not imported (how long it takes is the bench's affair)."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import headscope
from headscope import later
from headscope.cli.commands import COMMANDS, command_named
from headscope.lens.source import DEVICES, DTYPES
from tests.report.samples import SampleRun
from tests.tiny_tokenizers import save_tiny

LARGE = ("torch", "transformers", "scipy", "sklearn", "pandas", "matplotlib")


def loaded_by(*arguments: str, exit_code: int, of: tuple[str, ...] = LARGE) -> tuple[set[str], str]:
    """The large libraries (of those asked about) that a command has imported when it ends, and what it said."""
    program = textwrap.dedent(f"""
        import atexit, json, sys
        atexit.register(lambda: print(json.dumps([name for name in {of!r} if name in sys.modules])))
        sys.argv = ["headscope", *{list(arguments)!r}]
        from headscope.cli import main
        main()
    """)
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ended.returncode == exit_code, ended.stderr
    *said, loaded = ended.stdout.strip().splitlines()
    return set(json.loads(loaded)), "\n".join([*said, ended.stderr])


HELP = [
    ["--help"],
    ["--version"],
    ["--version", "--json"],
    *([command, "--help"] for command in COMMANDS),
    ["study", "--list"],
]
HELP += [["paper", name, "--help"] for name in ("clark2019", "vig2019", "kobayashi2020")]


@pytest.mark.parametrize("arguments", HELP, ids=" ".join)
def test_help_needs_no_large_library(arguments: list[str]) -> None:
    loaded, said = loaded_by(*arguments, exit_code=0)
    assert loaded == set()
    assert said.strip()


WRONG = {
    "a command": (["studdy"], "Did you mean 'study'"),
    "an option": (["study", "m", "c.txt", "-o", "run", "--rubbish"], "--rubbish"),
    "an argument that is missing": (["study", "m"], "CORPUS"),
    "a statistic": (["study", "m", "{text}", "-o", "run", "-s", "entrpy"], "entropy"),
    "a measure": (["study", "m", "{text}", "-o", "run", "-m", "wieght"], "weight"),
    "a setting": (["study", "m", "{text}", "-o", "run", "--set", "offsets.no=1"], "offsets"),
    "a format": (["study", "m", "{text}", "-o", "run", "--format", "nonsense"], "nonsense"),
    "a corpus": (["study", "m", "no-such-file.txt", "-o", "run"], "no-such-file.txt"),
    "a precision": (["study", "m", "{text}", "-o", "run", "--dtype", "float12"], "float12"),
    "a measure of read": (["read", "m", "a text", "-m", "wieght"], "weight"),
    "an option of read": (["read", "m", "a text", "--heads", "x"], "--heads"),
    "a view": (["view", "m", "a text", "--view", "nonsense", "-o", "x.html"], "nonsense"),
    "a run": (["table", "no-such-run", "entropy"], "no-such-run"),
    "a paper": (["paper", "clark2020", "m", "-o", "run"], "clark2020"),
    "a paper's text": (["paper", "clark2019", "m", "--text", "no-such-file.txt", "-o", "run"], "no-such-file.txt"),
    "a folder": (["read", "./no-such-folder", "a text"], "no-such-folder"),
    "a device": (["read", "m", "a text", "--device", "gpu"], "'gpu' is no device"),
    "a measure of view": (["view", "m", "a text", "-m", "wieght", "-o", "x.html"], "weight"),
    "a pair of files": (["align", "m", "no-such.fr", "no-such.en", "-o", "run"], "no-such"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_wrong_with_the_arguments_is_said_without_them(wrong: str, tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("A text.\n")
    arguments, named = WRONG[wrong]
    given = [one.format(text=tmp_path / "text.txt") for one in arguments]
    loaded, said = loaded_by(*given, exit_code=2)
    assert named in said
    assert loaded == set()


def test_a_typo_is_told_without_numpy_too() -> None:
    loaded, _ = loaded_by("study", "m", "c.txt", "--rubbish", exit_code=2, of=(*LARGE, "numpy"))
    assert loaded == set()


def test_tables_and_reports_of_a_run_need_no_torch(sample_run: SampleRun, tmp_path: Path) -> None:
    run = str(sample_run("bert").folder)
    asked = (["table", run, "entropy"], ["compare", run, run, "entropy"], ["report", run, "-o", str(tmp_path / "r.html")])
    for arguments in asked:
        loaded, said = loaded_by(*arguments, exit_code=0)
        assert loaded.isdisjoint({"torch", "transformers"}), arguments
        assert said.strip()
    loaded, _ = loaded_by("table", run, "entropy", exit_code=0)
    assert loaded <= {"pandas"}


def test_import_headscope_loads_nothing_and_every_name_is_there() -> None:
    program = f"import headscope, sys; print([name for name in {(*LARGE, 'numpy')!r} if name in sys.modules])"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "[]"
    assert all(getattr(headscope, name) is not None for name in headscope.__all__)
    assert set(headscope.__all__) <= set(dir(headscope))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        headscope.nonsense  # type: ignore[attr-defined]  # noqa: B018


ASKED = {
    "roles": "print(len(headscope.load_run(run).roles))",
    "a run in a notebook": "print(len(headscope.load_run(run)._repr_html_()))",
    "a report": "print(headscope.load_run(run).report(out='report.html'))",
    "a reading in a notebook": "print(len(reading()._repr_html_()))",
    "a view": "print(reading().view().save('view.html'))",
    "a measure": "print(reading().scores('norm').shape)",
    "a table of scores": "print(len(reading().to_frame('weight', 'norm')))",
    "a statistic": "print(headscope.STATISTICS['entropy'](measure='norm').table_name)",
    "a doctor": "from headscope.lens.doctor import diagnose; print(diagnose(lens()).verdict)",
}


@pytest.mark.parametrize("asked", ASKED)
def test_what_is_asked_for_first_is_there(asked: str, sample_run: SampleRun, saved: Path, tmp_path: Path) -> None:
    """In a fresh process, where nobody has imported the room that it comes from."""
    program = f"""
import headscope
run = {str(sample_run("bert").folder)!r}
lens = lambda: headscope.open({str(saved)!r})
reading = lambda: lens().read("the cat sat on the mat")
{ASKED[asked]}
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.strip()


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny("bert", "wordpiece", tmp_path_factory.mktemp("saved") / "bert")


@pytest.mark.parametrize("first", ["study.run", "report.page", "lens.lens"])
def test_a_function_that_is_called_as_a_package_stays_the_function(first: str) -> None:
    program = f"import headscope, headscope.{first}; print(headscope.study.__name__, headscope.report.__name__)"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout.split() == ["study", "write_report"]


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_says_what_they_say(name: str) -> None:
    assert command_named(name).get_short_help_str(limit=100).rstrip(".") == COMMANDS[name].rstrip(".")


def test_what_stands_for_a_library() -> None:
    import torch

    assert later.torch.ones is torch.ones
    assert isinstance(torch.ones(1), later.Tensor)
    assert not isinstance("no tensor", later.Tensor)
    assert later.Tensor(3).shape == (3,)
    assert str(later.Later("torch.nn.functional")) == "<torch.nn.functional, when it is used>"
    assert not isinstance(torch.ones(1), later.Later("no_such_module", "Tensor"))
    with pytest.raises(AttributeError):
        later.Tensor.nonsense  # noqa: B018
    with pytest.raises(AttributeError):
        later.torch.nonsense  # noqa: B018


def test_every_name_that_stands_for_something_finds_it() -> None:
    for name in later.__all__:
        found = getattr(later, name)
        if isinstance(found, later.Later):
            assert found._load() is not None


def test_precisions_and_devices_are_those_of_torch() -> None:
    import torch

    dtypes = [one for one in vars(torch).values() if isinstance(one, torch.dtype)]
    floating = {str(one).removeprefix("torch.") for one in dtypes if one.is_floating_point}
    assert set(DTYPES) <= floating
    assert floating - set(DTYPES) <= {"float4_e2m1fn_x2"}  # two numbers a byte, which no weights are kept in
    for device in set(DEVICES) - {"npu"}:  # of a plugin
        assert torch.device(device).type == device
