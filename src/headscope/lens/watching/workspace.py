"""Memory that is used again, block after block: asking the system for it anew costs as much as filling it.

A block of weights is megabytes, which a C library gives back to the system when they are let go: the next block's pages are
then made, and zeroed, one by one while the product is written into them. So what was the last block's is the next one's,
unless somebody still holds a tensor of it.
"""

from __future__ import annotations

import math
import sys
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from headscope.later import Tensor, torch

if TYPE_CHECKING:
    import numpy as np

LARGEST = 8_000_000  # numbers: what is larger is asked for anew, and not kept
KEPT = 4  # the weights of a block that is being made, and of one that is looked at, and what is made of these
_ALIGNED = 16  # numbers, 64 bytes: what PyTorch's own memory begins at

_here = threading.local()


def empty(like: Tensor, *shape: int) -> Tensor:
    """As `like.new_empty(shape)`, in memory that was used before, where nobody uses it any more."""
    count = math.prod(shape)
    if like.device.type != "cpu" or like.dtype != torch.float32 or not 0 < count <= LARGEST:
        return like.new_empty(shape)
    kept: list[np.ndarray] = _here.__dict__.setdefault("kept", [])
    for place in range(len(kept)):
        # A view holds the array that owns the memory, and a tensor its view.
        if _holders(kept, place) == _NOBODY and kept[place].size >= count + _ALIGNED:
            return _tensor(kept[place], count).view(shape)
    import numpy as np  # here: the commands name the measures, and so this file, before anything is counted

    kept.append(np.empty(count + _ALIGNED, dtype=np.float32))
    del kept[:-KEPT]
    return _tensor(kept[-1], count).view(shape)


def _holders(kept: Sequence[object], place: int) -> int:
    return sys.getrefcount(kept[place])


_NOBODY = _holders([object()], 0)  # the list, and whatever this Python counts for the call itself


def _tensor(owner: np.ndarray, count: int) -> Tensor:
    start = -owner.ctypes.data % 64 // 4
    return torch.from_numpy(owner[start : start + count])
