"""The documents that a run has counted, found again by what its manifest says of their corpus."""

from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from headscope.errors import InputError
from headscope.remote import as_path
from headscope.text import Corpus, Document


def documents_of(described: Sequence[dict[str, Any]]) -> Iterable[Document]:
    """Every document of some corpora as manifests describe them, each corpus once."""
    if not described:
        raise InputError("This run says of no corpus that it was counted over: there are no texts to show.")
    corpora = [_found(corpus) for corpus in {corpus["fingerprint"]: corpus for corpus in described}.values()]
    return chain.from_iterable(corpora) if len(corpora) > 1 else corpora[0]


def _found(described: dict[str, Any]) -> Corpus:
    if "paths" not in described:
        raise InputError(
            "This run was counted over texts that were given from Python, not over files: they cannot be found again."
        )
    missing = [path for path in described["paths"] if not as_path(path).is_file()]
    if missing:
        raise InputError(
            f"{Path(missing[0]).name} of this run's corpus is no longer where it was when the run was made: "
            "put it back, or start from where its path leads to it."
        )
    settings: dict[str, Any] = {name: described.get(name) for name in ("format", "unit", "column")}
    settings["keep_marks"] = described.get("keep_marks", False)
    try:
        return Corpus.from_files(*described["paths"], **settings, on_error="skip").take(described.get("asked"))
    except InputError as error:
        raise InputError(f"This run's corpus cannot be read any more: {error}") from error
