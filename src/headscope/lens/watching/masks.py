"""A mask that is made by rows: the lens asks for a block of query rows and never holds the n x n mask."""

from typing import Any, NamedTuple

import torch
from torch.utils._pytree import tree_map
from transformers.masking_utils import eager_mask

# A mask up to this many elements is kept whole: it is the same for every layer.
KEPT_WHOLE = 4_000_000

_METADATA = frozenset(
    getattr(torch.Tensor, name).__get__ for name in ("shape", "dtype", "device", "ndim", "layout", "requires_grad")
) | {torch.Tensor.size, torch.Tensor.dim, torch.Tensor.numel, torch.Tensor.is_floating_point}


class MaskPart(NamedTuple):
    """The mask of some rows, where it says anything."""

    first: int  # every row sees all keys before this one
    last: int  # no row sees this key or a later one
    values: torch.Tensor | None  # batch 1 row key: the additive mask of the keys first:last; None where it is zero


class RowMask(torch.Tensor):
    """Looks like the eager (batch, 1, query, key) mask; its values exist only for the rows asked for.

    The lens reads `rows(start, stop)`. Model code that computes with the mask gets the whole of it:
    any operation other than a look at its shape makes it first.
    """

    _arguments: dict[str, Any]
    _whole: torch.Tensor | None
    _parts: dict[tuple[int, int], MaskPart]
    _kept: int  # numbers of the parts that are kept

    def rows(self, start: int, stop: int) -> torch.Tensor:
        """The rows `start:stop` as an additive mask (batch, 1, stop - start, key)."""
        if self._whole is None and self.numel() <= KEPT_WHOLE:
            self._whole = self._make(0, self.shape[2])
        return self._whole[:, :, start:stop] if self._whole is not None else self._make(start, stop)

    def part(self, start: int, stop: int) -> MaskPart:
        """`rows(start, stop)` less the keys that all rows see and those that none does: the same for every layer.

        A row that sees nothing looks at all keys alike, so then nothing is left out; neither is anything on other devices,
        which would have to be waited for.
        """
        if (start, stop) in self._parts:
            return self._parts[start, stop]
        found = _part(self.rows(start, stop))
        kept = self._kept + (0 if found.values is None else found.values.numel())
        if kept <= KEPT_WHOLE:
            self._parts[start, stop], self._kept = found, kept
        return found

    def whole(self) -> torch.Tensor:
        """The mask as transformers would have made it."""
        return self.rows(0, self.shape[2])

    def _make(self, start: int, stop: int) -> torch.Tensor:
        offset = self._arguments["q_offset"] + start
        with torch._C.DisableTorchFunctionSubclass():
            return eager_mask(**{**self._arguments, "q_length": stop - start, "q_offset": offset})

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func in _METADATA:
            return super().__torch_function__(func, types, args, kwargs or {})
        args, kwargs = tree_map(lambda one: one.whole() if isinstance(one, RowMask) else one, (args, kwargs or {}))
        return func(*args, **kwargs)


def _part(rows: torch.Tensor) -> MaskPart:
    keys = rows.shape[3]
    if rows.device.type != "cpu":
        return MaskPart(0, keys, rows)
    seen = rows == 0
    if not seen.any(-1).all():
        return MaskPart(0, keys, rows)
    last = int(seen.flatten(0, 2).any(0).nonzero()[-1]) + 1
    not_by_all = ~seen.flatten(0, 2).all(0)[:last]
    first = int(not_by_all.nonzero()[0]) if not_by_all.any() else last
    return MaskPart(first, last, rows[..., first:last].clone() if first < last else None)


def row_mask(
    batch_size: int, q_length: int, kv_length: int, q_offset: int = 0, dtype: torch.dtype = torch.float32, **arguments: Any
) -> torch.Tensor | None:
    """The mask function that the lens registers: as `eager_mask`, but made by rows."""
    arguments |= {"batch_size": batch_size, "kv_length": kv_length, "q_offset": q_offset, "dtype": dtype}
    if arguments.get("use_vmap"):  # masks that are not functions of the indices cannot be cut into rows
        return eager_mask(**arguments, q_length=q_length)
    if arguments.get("allow_is_bidirectional_skip") and eager_mask(**arguments, q_length=1) is None:
        return None
    arguments["allow_is_bidirectional_skip"] = False
    device = arguments.get("device", "cpu")
    mask = torch.zeros((), dtype=dtype, device=device).expand(batch_size, 1, q_length, kv_length).as_subclass(RowMask)
    mask._arguments, mask._whole, mask._parts, mask._kept = arguments, None, {}, 0
    return mask
