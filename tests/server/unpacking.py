"""What the page makes of an answer, in numpy: chunks to arrays, arrays to scores."""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np

TYPES = {"f4": "<f4", "u1": "u1", "i1": "i1"}


class Unpacked:
    def __init__(self, answer: dict[str, Any]) -> None:
        self.description = answer["description"]
        self.chunks = [zlib.decompress(base64.b64decode(chunk)) for chunk in answer["chunks"]]

    def array(self, place: dict[str, Any]) -> np.ndarray:
        count = int(np.prod(place["shape"]))
        found = np.frombuffer(self.chunks[place["chunk"]], TYPES[place["type"]], count, place["offset"])
        return found.reshape(place["shape"]).astype(np.float32)

    def scores(self, attention: dict[str, Any], measure: str) -> np.ndarray:
        """(head, query, key)"""
        kept = attention["scores"][measure]
        if kept["form"] == "same":
            return self.scores(attention, kept["of"])
        if kept["form"] == "product":
            return self.scores(attention, kept["of"]) * self.array(kept["factor"])[:, None, :]
        if kept["form"] == "floats":
            return self.array(kept["at"])
        zeros = self.array(kept["zeros"])[:, None, None]
        return (self.array(kept["at"]) - zeros) * self.array(kept["steps"])[:, None, :]
