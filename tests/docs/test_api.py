"""The API reference is what the docstrings and signatures say now, and has every public name."""

from __future__ import annotations

import runpy

import headscope
from tests import places

MAKER = runpy.run_path(str(places.DOCS / "make" / "api.py"))
PAGES = MAKER["pages"]()


def test_it_is_current() -> None:
    old = [file.name for file, said in PAGES.items() if not file.is_file() or file.read_text(encoding="utf-8") != said]
    assert old == [], "docs/api is not what the docstrings say: run python docs/make/api.py"
    assert set((places.DOCS / "api").glob("*.md")) == set(PAGES)


def test_every_public_name_has_its_place() -> None:
    headings = {line.split()[1] for said in PAGES.values() for line in said.splitlines() if line.startswith("## headscope.")}
    rooms = {f"headscope.{room}" for room in MAKER["ROOMS"]}
    elsewhere = {"headscope.__version__", "headscope.HeadscopeError"}
    assert {f"headscope.{name}" for name in headscope.__all__} - headings - rooms == elsewhere
    assert all("headscope.HeadscopeError" in said for file, said in PAGES.items() if file.name == "index.md")


def test_a_signature_is_as_it_is_written() -> None:
    def example(text: str, *more: int, kind: str | None = None, **others: object) -> list[str]:
        raise NotImplementedError

    written = "example(text: str, *more: int, kind: str | None = None, **others: object) -> list[str]"
    assert MAKER["signature_of"]("example", example) == written
