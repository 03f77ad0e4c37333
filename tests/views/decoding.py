"""A page as its reader decodes it, written from the description of the format and not from pack.py."""

from __future__ import annotations

import base64
import json
import re
import zlib
from html import unescape
from typing import Any

import numpy as np

TYPES = {"f4": "<f4", "u1": "u1", "i1": "i1"}


def parts(page: str) -> tuple[dict[str, Any], list[str]]:
    """The description and the chunks that stand in a page."""
    description = re.search(r'<script type="application/json" id="page">(.*?)</script>', page, re.S)
    assert description is not None
    return json.loads(description[1]), re.findall(r'id="chunk-\d+">([^<]*)</script>', page)


def policy(page: str) -> str:
    found = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert found is not None
    return unescape(found[1])


def array(chunks: list[str], place: dict[str, Any]) -> np.ndarray:
    raw = zlib.decompress(base64.b64decode(chunks[place["chunk"]]))
    count = int(np.prod(place["shape"]))
    return np.frombuffer(raw, TYPES[place["type"]], count, place["offset"]).reshape(place["shape"])


def scores(attention: dict[str, Any], chunks: list[str], measure: str) -> np.ndarray:
    """(head, query, key)"""
    encoded = attention["scores"][measure]
    if encoded["form"] == "same":
        return scores(attention, chunks, encoded["of"])
    if encoded["form"] == "floats":
        return array(chunks, encoded["at"])
    if encoded["form"] == "product":
        return scores(attention, chunks, encoded["of"]) * array(chunks, encoded["factor"])[:, None, :]
    levels, steps, zeros = (array(chunks, encoded[name]) for name in ("at", "steps", "zeros"))
    return (levels.astype(np.float32) - zeros[:, None, None]) * steps[:, None, :]


def vectors(encoded: dict[str, Any], chunks: list[str]) -> np.ndarray:
    """(head or group, token, d_head)"""
    raw = array(chunks, encoded["at"])
    return raw if encoded["form"] == "floats" else raw * array(chunks, encoded["steps"])[:, :, None]
