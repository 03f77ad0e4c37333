"""The model of the other direction, by its name: opus-mt-fr-en and opus-mt-en-fr."""

from __future__ import annotations

import re
from pathlib import Path

from headscope.errors import InputError

AUTO = "auto"
_OPUS = re.compile(r"(?P<start>opus-mt-(?:tc-[a-z]+-)?)(?P<source>[A-Za-z_]+)-(?P<target>[A-Za-z_]+)")


def reverse_of(model: str) -> str:
    """Where the reverse of an opus-mt model is: beside a folder, or on the hub; an error where the name does not tell.

    >>> reverse_of("Helsinki-NLP/opus-mt-fr-en")
    'Helsinki-NLP/opus-mt-en-fr'
    """
    folder, _, name = model.rstrip("/").rpartition("/")
    match = _OPUS.fullmatch(name)
    if match is None:
        raise InputError(f"{name} does not say which model is its reverse, as opus-mt-fr-en does: give --reverse MODEL.")
    other = f"{match['start']}{match['target']}-{match['source']}"
    found = f"{folder}/{other}" if folder else other
    if Path(model).exists() and not Path(found).exists():
        raise InputError(f"There is no {other} beside {model}: give --reverse MODEL, a folder or a hub id.")
    return found
