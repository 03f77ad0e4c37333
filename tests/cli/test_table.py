"""`headscope table` and `compare`: whole headers at 80 columns, the rows and columns asked for, and what intervals are."""

from __future__ import annotations

import json
import shutil
import sys
from io import StringIO
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headscope
from headscope.cli import main
from headscope.statistics import BeyondSinks
from headscope.study.results.selection import BETWEEN, blocks
from headscope.study.tables import save_table
from tests.latex import compile_tables
from tests.tiny import tiny
from tests.tiny_tokenizers import tiny_tokenizer

TEXTS = [f"the {'cat ' * (1 + n * 7 % 9)}sat on {'a dog' if n % 3 else 'the mat'} ." for n in range(30)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "run"
    with headscope.open(tiny("bert"), tiny_tokenizer("wordpiece")) as lens:
        headscope.study(lens, TEXTS, ["entropy", BeyondSinks()], out=folder)
        headscope.study(lens, TEXTS[:1], ["entropy"], out=folder.with_name("short"))
    return folder


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    def call(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["headscope", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        return int(end.value.code or 0), *capsys.readouterr()

    return call


def test_headers_are_whole_at_80_columns(call, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """On a terminal: 27 columns stand in blocks below each other, and every row says which head it is."""
    for name, value in {"FORCE_COLOR": "1", "NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "80"}.items():
        monkeypatch.setenv(name, value)
    code, out, _ = call("table", folder, "beyond_sinks")
    table = headscope.load_run(folder)["beyond_sinks"]
    assert code == 0
    assert "…" not in out
    assert max(map(len, out.splitlines())) <= 80
    words = out.split()
    assert all(column in words for column in table)
    headers = [line.split() for line in out.splitlines() if line.split()[:1] == ["stack"]]
    assert len(headers) > 4
    assert all(header[:4] == ["stack", "kind", "layer", "head"] for header in headers)
    found = {}
    for block in out.split("\n\n"):
        lines = [line.split() for line in block.splitlines() if line.split()[:1] in (["stack"], ["encoder"])]
        assert len(lines) == 1 + len(table)
        found |= {name: [line[place] for line in lines[1:]] for place, name in enumerate(lines[0])}
    assert set(found) == set(table)
    assert [float(one) for one in found["one_token_low"]] == pytest.approx(table["one_token_low"].tolist(), rel=1e-3)


@given(widths=st.lists(st.integers(1, 60), min_size=1, max_size=20), width=st.integers(60, 120))
def test_blocks_have_every_column_once_and_fit(widths: list[int], width: int) -> None:
    named = {"layer": 5, "head": 4} | {f"column{number}": wide for number, wide in enumerate(widths)}
    found = blocks(named, width)
    assert [name for block in found for name in block[2:]] == list(named)[2:]
    for block in found:
        assert block[:2] == ["layer", "head"]
        assert len(block) == 3 or sum(named[name] + BETWEEN for name in block) <= width


def test_intervals_are_explained_below_the_table(call, folder: Path) -> None:
    assert "the 30 documents drawn again with replacement, 1,000 times" in " ".join(
        call("table", folder, "entropy")[1].split()
    )
    assert "intervals need at least two documents" in " ".join(
        call("table", folder.with_name("short"), "entropy")[1].split()
    )
    assert "interval" not in call("table", folder, "entropy", "--columns", "layer,head,entropy")[1]


def test_the_first_rows_by_a_column(call, folder: Path) -> None:
    table = headscope.load_run(folder)["entropy"].sort_values("entropy", ascending=False)
    code, out, _ = call(
        "table", folder, "entropy", "--sort", "entropy", "--top", 3, "--columns", "layer,head,entropy", "--json"
    )
    assert code == 0
    expected = table[["layer", "head", "entropy"]].head(3).to_json(orient="records")
    assert json.loads(out) == json.loads(expected)
    last = json.loads(call("table", folder, "entropy", "--sort", "entropy", "--ascending", "--top", 1, "--json")[1])
    assert last[0]["entropy"] == pytest.approx(table["entropy"].iloc[-1])
    assert "The first 3 of 12 rows." in call("table", folder, "entropy", "--top", 3)[1]
    by_head = json.loads(call("table", folder, "entropy", "--sort", "head", "--json")[1])
    assert [row["head"] for row in by_head] == sorted(row["head"] for row in by_head)
    csv = call("table", folder, "entropy", "--csv")[1]
    pd.testing.assert_frame_equal(
        pd.read_csv(StringIO(csv)), headscope.load_run(folder)["entropy"].astype({"layer": "int64", "head": "int64"}),
        check_dtype=False,
    )  # fmt: skip


def test_markdown(call, folder: Path) -> None:
    code, out, _ = call("table", folder, "entropy", "--columns", "layer,head,entropy", "--markdown", "--top", 2)
    lines = out.splitlines()
    assert code == 0
    assert lines[0] == "| layer | head | entropy |"
    assert len(lines) == 4, "no note: what is written to a file is the table alone"
    assert lines[2].startswith("| 0 | 0 | ")


def test_latex(call, folder: Path, tmp_path: Path) -> None:
    code, out, _ = call("table", folder, "entropy", "--latex")
    assert code == 0
    assert out.startswith(r"\begin{tabular}{llrrrrrrrr}")
    assert r"entropy\_low" in out
    compile_tables([out], tmp_path)


def test_a_column_that_is_asked_for_twice_is_there_once(call, folder: Path) -> None:
    asked = ("table", folder, "entropy", "--columns", "head,entropy,head", "--top", 1)
    assert call(*asked)[1].splitlines()[0].split() == ["head", "entropy"]
    assert list(json.loads(call(*asked, "--json")[1])[0]) == ["head", "entropy"]


def test_the_tables_of_a_run(call, folder: Path) -> None:
    assert call("table", folder)[1].split() == ["beyond_sinks", "entropy"]
    assert json.loads(call("table", folder, "--json")[1]) == ["beyond_sinks", "entropy"]
    for asked in (["--latex"], ["--sort", "entropy"], ["--top", 3], ["--columns", "head"]):
        code, out, err = call("table", folder, *asked)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert "Say which table" in err
        assert "beyond_sinks, entropy" in err


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["--columns", "layer,entrpy"], ["The table has no column 'entrpy'", "did you mean entropy "]),
        (["--sort", "heads"], ["no column 'heads'", "did you mean head?"]),
        (["--sort", "zzzz"], ["no column 'zzzz': it has stack, kind"]),
        (["--csv", "--latex"], ["Choose one of --latex and --csv"]),
        (["--top", "0"], ["'--top'"]),
        (["--ascending"], ["give --sort COLUMN too"]),
    ],
)
def test_mistakes_are_one_sentence(call, folder: Path, arguments: list[str], parts: list[str]) -> None:
    code, out, err = call("table", folder, "entropy", *arguments)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    for part in parts:
        assert part in err


def test_a_table_that_is_not_there_has_a_nearest_one(call, folder: Path) -> None:
    code, _, err = call("table", folder, "entropi")
    assert code == 2
    assert "did you mean entropy?" in err


def test_comparing_runs_with_and_without_intervals(call, folder: Path, tmp_path: Path) -> None:
    """One document has none, and a table of our own may have no such columns: values are compared, ends are not."""
    bare = tmp_path / "bare"
    shutil.copytree(folder, bare)
    table = headscope.load_run(folder)["entropy"]
    save_table(bare, "entropy", table.drop(columns=[name for name in table if name.endswith(("_low", "_high"))]))
    for other in (folder.with_name("short"), bare):
        for pair in ((folder, other), (other, folder)):
            code, out, _ = call("compare", *pair, "entropy", "--json")
            rows = pd.DataFrame(json.loads(out))
            assert code == 0
            assert not [name for name in rows if "_low" in name or "_high" in name]
            one, two = (headscope.load_run(run)["entropy"]["entropy"] for run in pair)
            assert rows["entropy_difference"].tolist() == pytest.approx((two - one).tolist())
        assert headscope.load_run(folder).report(tmp_path / "two.html", other).is_file()
    ranked = json.loads(call("compare", folder, bare, "entropy", "--sort", "entropy_a", "--top", 2, "--json")[1])
    assert ranked[0]["entropy_a"] == pytest.approx(table["entropy"].max())
