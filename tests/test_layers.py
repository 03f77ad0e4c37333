"""The stairs: a package imports only what stands below it, and nothing is imported in a function to dodge a cycle."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "headscope"
# From the ground up; packages of one step do not know each other.
STAIRS = (
    {"allocation", "cache_folder", "children", "errors", "colours", "garbage", "html_table", "later", "progress", "version"},
    {"kernels", "remote"},
    {"files"},
    {"text"},
    {"lens"},
    {"measures"},
    {"writing"},
    {"statistics"},
    {"study"},
    {"ablation", "engines", "probes", "views"},
    {"alignment", "heads", "league"},
    {"papers", "report"},
    {"demo"},
    {"server"},
    {"cli"},
)
STEP = {name: step for step, names in enumerate(STAIRS) for name in names}
DOORS = {"__init__", "__main__"}  # the flat namespace at the top; `python -m headscope`
# Commands import what they run when they run: --help and a wrong option must not wait for it.
LAZY = {path.relative_to(SOURCE).as_posix() for path in (SOURCE / "cli").glob("*.py")}


def package_of(module: str) -> str:
    """
    >>> package_of("headscope.study.run"), package_of("headscope")
    ('study', '__init__')
    """
    return [*module.split("."), "__init__"][1]


def own_imports(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and module of every import of ours."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "headscope":
            if node.module == "headscope":
                yield from ((node.lineno, f"headscope.{name.name}") for name in node.names)
            else:
                yield node.lineno, node.module
        elif isinstance(node, ast.Import):
            yield from ((node.lineno, name.name) for name in node.names if name.name.split(".")[0] == "headscope")


def arrows_up(source: str, package: str) -> list[str]:
    """The imports of a module of `package` that do not go down the stairs."""
    found = []
    for line, module in own_imports(ast.parse(source)):
        other = package_of(module)
        if other != package and (other not in STEP or STEP[other] >= STEP[package]):
            found.append(f"line {line}: {package} imports {module}")
    return found


def imports_in_functions(source: str) -> list[str]:
    functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return sorted({f"line {line}: {module}" for function in functions for line, module in own_imports(function)})


def modules() -> list[Path]:
    return sorted(path for path in SOURCE.rglob("*.py") if path.parent != SOURCE or path.stem not in DOORS)


def package_at(path: Path) -> str:
    return path.relative_to(SOURCE).with_suffix("").parts[0]


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_go_down_the_stairs(path: Path) -> None:
    source, package = path.read_text(encoding="utf-8"), package_at(path)
    assert not arrows_up(source, package)
    assert str(path.relative_to(SOURCE)) in LAZY or not imports_in_functions(source)


def test_every_package_has_its_step() -> None:
    found = {package_at(path) for path in modules()}
    assert found == set(STEP), "a new package needs a step in STAIRS"


def test_a_planted_arrow_is_found() -> None:
    assert arrows_up("from headscope.study import Run\n", "statistics") == ["line 1: statistics imports headscope.study"]
    assert arrows_up("from headscope.heads.roles import roles\n", "alignment")  # one step, two rooms
    assert arrows_up("from headscope import open\n", "lens")  # the top knows all of us
    assert not arrows_up("from headscope.lens import Lens\nfrom headscope.study.run import Run\n", "study")
    assert imports_in_functions("def f():\n    from headscope.lens import Lens\n") == ["line 2: headscope.lens"]
