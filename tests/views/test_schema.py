"""One description of what pages read: the types of TypeScript are made of it, and what is written keeps to it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from headscope.views import schema
from headscope.views.pack import pack
from tests import places
from tests.views.print.contents import random_content

WEB = places.ROOT / "web"


def test_the_types_of_typescript_are_current(tmp_path: Path) -> None:
    subprocess.run([sys.executable, str(WEB / "make_schema.py"), str(tmp_path / "schema.ts")], check=True, timeout=120)
    same = (tmp_path / "schema.ts").read_text() == (WEB / "src" / "schema.ts").read_text()
    assert same, "web/src/schema.ts is not what Python's types make: run make web and commit it"


@pytest.mark.parametrize("exact", [False, True])
def test_what_is_packed_keeps_to_the_schema(exact: bool) -> None:
    packed = pack(random_content(), exact=exact).description
    assert TypeAdapter(schema.Content).validate_python(packed, strict=True) == packed  # nothing is more, nothing is less
    for attention in packed["attentions"]:
        assert {scores["form"] for scores in attention["scores"].values()} == (
            {"floats"} if exact else {"levels", "product"}
        )
