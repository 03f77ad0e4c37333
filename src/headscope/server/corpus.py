"""The corpus that a run has counted, found again by what its manifest says of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from headscope.demo.text import paragraph_pairs, text
from headscope.errors import InputError
from headscope.server.refusal import Refusal
from headscope.study.manifest import load_manifest
from headscope.text import Corpus, Document


def manifests(run: Path) -> list[dict[str, Any]]:
    """The manifests of the studies that a run is made of: its own, or for a paper's run those of its parts."""
    own = load_manifest(run)
    if "corpus" in own:
        return [own]
    return [load_manifest(part.parent) for part in sorted(run.glob("parts/*/manifest.json"))]


def documents(run: Path) -> Iterator[Document]:
    """Every document that the run has counted, of all its studies, each corpus once."""
    described = {one["corpus"]["fingerprint"]: one["corpus"] for one in manifests(run) if "corpus" in one}
    if not described:
        raise Refusal(404, "This run says of no corpus that it was counted over: there are no texts to show.")
    corpora = [_found(corpus) for corpus in described.values()]
    for corpus in corpora:
        yield from corpus


def _found(described: dict[str, Any]) -> Corpus:
    if "paths" not in described:
        demo = Corpus.of(paragraph_pairs(text()))
        if demo.fingerprint() == described["fingerprint"]:
            return demo
        raise Refusal(
            404, "This run was counted over texts that were given from Python, not over files: they cannot be found again."
        )
    missing = [path for path in described["paths"] if not Path(path).is_file()]
    if missing:
        raise Refusal(
            404,
            f"{Path(missing[0]).name} of this run's corpus is no longer where it was when the run was made: "
            "put it back, or start the server where its path leads to it.",
        )
    settings = {name: described.get(name) for name in ("format", "unit", "column")}
    try:
        return Corpus.from_files(*described["paths"], **settings, on_error="skip")
    except InputError as error:
        raise Refusal(404, f"This run's corpus cannot be read any more: {error}") from error
