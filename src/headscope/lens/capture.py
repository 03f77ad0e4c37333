"""Capture: one forward pass over one batch, which hands out a block for every site and block of rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from torch import Tensor, nn

from headscope.lens.batch import Batch
from headscope.lens.block import AttentionBlock, KeySide
from headscope.lens.functions import Attended, FunctionWatch
from headscope.lens.interface import AttentionCall, watching
from headscope.lens.trace import Trace, TracedSite

# Weights of this many numbers make a block (16 MB): with fewer, long texts take several times as long; from
# twice as many on, memory is no longer reused between blocks.
BLOCK = 4_000_000


class Capture:
    """Watches the sites of a trace while a batch runs, and calls `receive` with each block."""

    def __init__(self, traced: Trace, batch: Batch, receive: Callable[[Any], None], rows: int | None = None) -> None:
        self.batch = batch
        self.receive = receive  # an AttentionBlock, or what a subclass makes of it
        self.rows_per_block = rows
        self.sites_seen = 0
        self._sites = {(found.module, found.call): found for found in traced.sites}
        self._calls: Counter[nn.Module] = Counter()
        self._watched = traced.watched
        self._functions = FunctionWatch(batch.size, self.seen)

    @contextmanager
    def watch(self) -> Iterator[None]:
        with ExitStack() as stack:
            for module in self._watched:
                stack.callback(module.register_forward_pre_hook(self._functions.enter_module).remove)
                stack.callback(module.register_forward_hook(self._functions.leave_module, always_call=True).remove)
            stack.enter_context(watching(self))
            if self._watched:
                stack.enter_context(self._functions)
            yield

    def attend(self, call: AttentionCall) -> tuple[Tensor, None]:
        """The first way in: compute the attention by rows, as the model would, and show each block."""
        self._functions.paused = True
        try:
            return self._attend(call)
        finally:
            self._functions.paused = False

    def _attend(self, call: AttentionCall) -> tuple[Tensor, None]:
        found = self._next(call.module)
        if found is None:
            return call.rows(0, call.length)[0].to(call.dtype), None
        key_side = KeySide(found.site, call.value, call.key, self.batch.key_mask(found.site), found.projection)
        output: Tensor | None = None
        for rows in self._row_ranges(found, call.length, call.query.shape[0], call.key.shape[2]):
            part, weights = call.rows(rows.start, rows.stop)
            self._show(found, rows, weights, call.query, key_side)
            if len(rows) == call.length:
                return part.to(call.dtype), None
            if output is None:
                output = part.new_empty((part.shape[0], call.length, *part.shape[2:]), dtype=call.dtype)
            output[:, rows.start : rows.stop] = part
        assert output is not None
        return output, None

    def seen(self, module: nn.Module, attended: Attended) -> None:
        """The second way in: the model has computed the attention; show it."""
        self._functions.paused = True
        found = self._next(module)
        if found is not None:
            mask = self.batch.key_mask(found.site)
            key_side = KeySide(found.site, attended.values, attended.key, mask, found.projection)
            keys = attended.values.shape[2]
            for rows in self._row_ranges(found, attended.length, attended.values.shape[0], keys):
                self._show(found, rows, attended.rows(rows.start, rows.stop), attended.query, key_side)
        self._functions.paused = False

    def _next(self, module: nn.Module) -> TracedSite | None:
        found = self._sites.get((module, self._calls[module]))
        self._calls[module] += 1
        return found

    def _show(self, found: TracedSite, rows: range, weights: Tensor, queries: Tensor | None, keys: KeySide) -> None:
        if rows.start == 0:
            self.sites_seen += 1
        mask = self.batch.query_mask(found.site)
        if mask is not None:
            weights = weights * mask[:, None, rows.start : rows.stop, None]
        some = None if queries is None else queries[:, :, rows.start : rows.stop]
        self.receive(AttentionBlock(found.site, rows, weights, some, keys, self.batch))

    def _row_ranges(self, found: TracedSite, length: int, batch: int, keys: int) -> Iterator[range]:
        step = self.rows_per_block or max(1, BLOCK // (batch * found.site.heads * keys))
        if not found.cuttable:
            step = length
        for start in range(0, length, step):
            yield range(start, min(start + step, length))
