"""Capture: one forward pass over one batch, which hands out a block for every site and block of rows."""

from collections import Counter
from collections.abc import Callable, Container, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Literal

import torch
from torch import Tensor, nn

from headscope.errors import ModelError
from headscope.lens.block import AttentionBlock, KeySide, ResidualRows
from headscope.lens.site import Site
from headscope.lens.tokens.batch import Batch
from headscope.lens.watching.contraction import seen_by_hooks
from headscope.lens.watching.following import Follower, Step
from headscope.lens.watching.functions import FunctionTracer, SeenAttention
from headscope.lens.watching.gating import behind
from headscope.lens.watching.interface import AttentionCall, watching
from headscope.lens.watching.linear import first_tensor
from headscope.lens.watching.trace import Trace, TracedSite

# Weights of this many numbers (16 MB) make one block. What has more is cut into blocks of CUT numbers (6 MB), which stay
# near a processor while measures and statistics read them; but not into fewer than ROWS, for each of which keys and values
# would be read once more. SmolLM2, 32,768 tokens: 36 s a layer with 24 rows, 45 with 5.
BLOCK, CUT, ROWS = 4_000_000, 1_600_000, 24

_Shown = Callable[
    [Tensor], None
]  # shows an attention's blocks, once its gates (batch, row, head, d_head) or weights are known
_Block = tuple[Site, range, Tensor, Tensor | None, KeySide, Batch]
Rows = int | Literal["fit"] | None  # rows of a block: at most so many, so many that BLOCK is kept, or all


class Capture:
    """Watches the sites of a trace while a batch runs, and calls `receive` with each block (of `layers`, where given)."""

    def __init__(
        self,
        traced: Trace,
        batch: Batch,
        receive: Callable[[Any], None],
        rows: Rows = "fit",
        layers: Container[int] | None = None,
    ) -> None:
        self.batch = batch
        self.receive = receive  # an AttentionBlock, or what a subclass makes of it
        self.rows_per_block = rows
        self.layers = layers
        self.sites_seen = 0
        # The first of those that share a softmax knows the others.
        self._sites = {(found.module, found.call): found for found in reversed(traced.sites)}
        self._calls: Counter[nn.Module] = Counter()
        self._watched = traced.watched
        self._functions = FunctionTracer(batch.size, self.seen)
        self._paths: dict[tuple[nn.Module, int], TracedSite] = {
            (found.path.module, found.path.call): found for found in traced.sites if found.path is not None
        }
        self._follower = Follower(mixing=bool(self._paths))
        self._held: tuple[TracedSite, _Shown] | None = None  # an attention whose blocks cannot be shown yet
        self._waiting: list[tuple[TracedSite, _Shown, Step]] = []  # such attentions, and what the model made of them
        self._inputs: dict[nn.Module, Tensor] = {}  # what the modules before an attention have just read

    @contextmanager
    def watch(self) -> Iterator[None]:
        with ExitStack() as stack:
            stack.enter_context(self._functions.inside(self._watched))
            for module in self._read_before():
                stack.callback(module.register_forward_pre_hook(self._reads, with_kwargs=True).remove)
            stack.callback(self._inputs.clear)
            stack.enter_context(self._following())
            stack.enter_context(seen_by_hooks(self._read_before()))
            stack.enter_context(watching(self))
            yield

    def attend(self, call: AttentionCall) -> tuple[Tensor, None]:
        """The first way in: compute the attention by rows, as the model would, and show each block."""
        self._functions.paused = True
        try:
            output, _ = self._attend(call)
        finally:
            self._functions.paused = False
        if self._held is not None:
            self._waiting.append((*self._held, self._follower.begin(output)))
            self._held = None
        return output, None

    def _attend(self, call: AttentionCall) -> tuple[Tensor, None]:
        found = self._next(call.module)
        if found is None:
            return call.rows(0, call.length)[0].to(call.dtype), None
        sites = self._sides(found, call)
        output: Tensor | None = None
        if found.site.gated and self._is_shown(found):
            return self._attend_gated(*sites[0], call)
        for rows in self._row_ranges(found, call.length, call.query.shape[0], call.key.shape[2]):
            part, weights = call.rows(rows.start, rows.stop)
            for one, key_side, residual in sites:
                block = self._block(one.site, rows, weights[..., one.keys], call.query, key_side)
                self._show(one, block, residual, part)
            if len(rows) == call.length:
                return part.to(call.dtype), None
            if output is None:
                output = part.new_empty((part.shape[0], call.length, *part.shape[2:]), dtype=call.dtype)
            output[:, rows.start : rows.stop] = part
        assert output is not None
        return output, None

    def _sides(self, found: TracedSite, call: AttentionCall) -> list[tuple[TracedSite, KeySide, Tensor | None]]:
        """What `_beside` says of every site whose keys are in a call: two, where a softmax is over two texts'."""
        sides, inputs = [], dict(self._inputs)
        for one in (found, *found.others):
            self._inputs.update(inputs)
            beside = self._beside(one, call.value[:, :, one.keys], call.key[:, :, one.keys], call.length)
            sides.append((one, *beside))
        return sides

    def _attend_gated(
        self, found: TracedSite, key_side: KeySide, residual: Tensor | None, call: AttentionCall
    ) -> tuple[Tensor, None]:
        """The gates are known only when W_O reads what they multiplied: blocks are shown then.

        One block waits; the weights of several would fill the memory, and are computed once more.
        """
        ranges = list(self._row_ranges(found, call.length, call.query.shape[0], call.key.shape[2]))
        parts = [call.rows(rows.start, rows.stop)[:: 1 if len(ranges) == 1 else 2] for rows in ranges]
        output = torch.cat([part[0] for part in parts], 1)

        def show(gates: Tensor) -> None:
            for rows, (part, *kept) in zip(ranges, parts, strict=True):
                weights = kept[0] if kept else call.rows(rows.start, rows.stop)[1]
                block = self._block(found.site, rows, weights, call.query, key_side)
                of_rows = gates[:, rows.start : rows.stop]
                self._show(found, block, residual, behind(of_rows, part), of_rows)

        self._held = found, show
        return output.to(call.dtype), None

    @contextmanager
    def _following(self) -> Iterator[None]:
        """Look on from gated attentions to what W_O reads; without any, nothing is looked at, and nothing gets slower."""
        gated = [found.projection.module for found in self._sites.values() if found.projection and found.projection.gating]
        with ExitStack() as stack:
            for module in dict.fromkeys(gated):
                stack.callback(module.register_forward_pre_hook(self._projects).remove)
            for module in dict.fromkeys(module for module, _ in self._paths):
                stack.callback(module.register_forward_hook(self._made_values).remove)
            if gated:
                stack.enter_context(self._follower)
            stack.callback(self._follower.forget)
            stack.callback(self._waiting.clear)
            yield

    def _projects(self, module: nn.Module, given: Any) -> None:
        """A forward pre-hook on W_O behind gates."""
        read = self._follower.step_of(given[0]) if given else None
        waiting, self._waiting = self._waiting, []
        self._follower.forget()
        self._functions.paused = True
        try:
            for found, show, output in waiting:
                gating = found.projection.gating if found.projection else None
                if read is None or gating is None or output not in read.origins:
                    raise ModelError(f"{found.site.name}: what W_O reads was not found to be made of its heads again.")
                show((gating.gates if found.path is None else found.path.weights)(read, output))
        finally:
            self._functions.paused = False

    def _made_values(self, module: nn.Module, given: Any, output: Any) -> None:
        """A forward hook on what makes values: the third way in, for windows, chunks and blocks."""
        output = first_tensor(output)
        found = self._paths.get((module, self._calls[module]))
        self._calls[module] += 1
        if found is None or found.path is None:
            return
        if not self._is_shown(found):
            self.sites_seen += 1
            return
        path, site, length = found.path, found.site, self.batch.query_length(found.site)
        values = path.values(output, self.batch.size)[:, :, :length]
        key_side, residual = self._beside(found, values, None, length)

        def show(weights: Tensor) -> None:
            weights = weights[:, :, :length, :length]  # a model may pad a text to its own block size
            sums = (weights @ values).transpose(1, 2)
            for rows in self._row_ranges(found, length, self.batch.size, length):
                here = slice(rows.start, rows.stop)
                self._show(
                    found, self._block(site, rows, weights[:, :, here].clone(), None, key_side), residual, sums[:, here]
                )

        self._waiting.append((found, show, path.begin(self._follower, output, self.batch.size)))

    def seen(self, module: nn.Module, attended: SeenAttention) -> None:
        """The second way in: the model has computed the attention; show it."""
        found = self._next(module)
        if found is not None and not self._is_shown(found):
            self.sites_seen += 1
            self._inputs.clear()
        elif found is not None:
            key_side, residual = self._beside(found, attended.values, attended.key, attended.length)

            def show(gates: Tensor | None = None) -> None:
                for rows in self._row_ranges(found, attended.length, attended.values.shape[0], attended.values.shape[2]):
                    here = slice(rows.start, rows.stop)
                    weights, output = attended.rows(rows.start, rows.stop), attended.output[:, here]
                    block = self._block(found.site, rows, weights, attended.query, key_side)
                    if gates is None:
                        self._show(found, block, residual, output)
                    else:
                        self._show(found, block, residual, behind(gates[:, here], output), gates[:, here])

            if found.site.gated:
                followed = self._follower.begin(attended.result, (attended.output.shape, attended.arranged))
                self._waiting.append((found, show, followed))
            else:
                show()

    def _is_shown(self, found: TracedSite) -> bool:
        return self.layers is None or found.site.layer in self.layers

    def _next(self, module: nn.Module) -> TracedSite | None:
        found = self._sites.get((module, self._calls[module]))
        self._calls[module] += 1
        return found

    def _read_before(self) -> Iterator[nn.Module]:
        """The modules whose inputs are looked at, each once."""
        chosen = [found.value_projection.module for found in self._sites.values() if found.value_projection is not None]
        chosen += [found.connection.residual for found in self._sites.values() if found.connection is not None]
        yield from dict.fromkeys(chosen)

    def _reads(self, module: nn.Module, given: Any, named: Any) -> None:
        """A forward pre-hook."""
        first = next((one for one in (*given, *named.values()) if isinstance(one, Tensor)), None)
        if first is not None:
            self._inputs[module] = first.mT if isinstance(module, nn.Conv1d) else first

    def _beside(self, found: TracedSite, values: Tensor, keys: Tensor | None, queries: int) -> tuple[KeySide, Tensor | None]:
        """The keys of an attention, and the residual stream (batch, query, d_model): what was read for it is let go."""
        from_values, around = found.value_projection, found.connection
        mask = self.batch.on(values.device).key_mask(found.site)
        inputs = None if from_values is None else self._inputs.get(from_values.module)
        residual = None if around is None else self._inputs.get(around.residual)
        self._inputs.clear()
        inputs = _by_text(inputs, self.batch.size, values.shape[2])
        key_side = KeySide(found.site, values, keys, mask, found.projection, inputs)
        return key_side, _by_text(residual, self.batch.size, queries)

    def _show(
        self, found: TracedSite, block: _Block, residual: Tensor | None, output: Tensor, gates: Tensor | None = None
    ) -> None:
        if self._is_shown(found):
            joining: ResidualRows | None = None
            if found.connection is not None and residual is not None:
                joining = ResidualRows(found.connection, output.float(), residual[:, block[1].start : block[1].stop])
            self.receive(AttentionBlock(*block, joining, gates))

    def _block(self, site: Site, rows: range, weights: Tensor, queries: Tensor | None, keys: KeySide) -> _Block:
        """What a block is made of; weights are zero in rows of padding."""
        if rows.start == 0:
            self.sites_seen += 1
        batch = self.batch.on(weights.device)
        mask = batch.query_mask(site)
        if mask is not None and weights.device.type == "cpu":  # which touches only these rows
            texts, places = batch.padding_rows(site)
            if len(rows) < mask.shape[1]:
                here = (places >= rows.start) & (places < rows.stop)
                texts, places = texts[here], places[here] - rows.start
            weights[texts, :, places] = 0
        elif mask is not None:
            weights.masked_fill_(~mask[:, None, rows.start : rows.stop, None], 0)
        return site, rows, weights, None if queries is None else queries[:, :, rows.start : rows.stop], keys, batch

    def _row_ranges(self, found: TracedSite, length: int, batch: int, keys: int) -> Iterator[range]:
        step, wanted = length, self.rows_per_block
        if found.cuttable and (wanted == "fit" or not self._is_shown(found)):
            # Rows that nobody is shown are never wanted at once.
            numbers = batch * found.site.heads * keys
            step = length if length * numbers <= BLOCK else max(ROWS, CUT // numbers)
        elif found.cuttable and isinstance(wanted, int):
            step = wanted
        for start in range(0, length, step):
            yield range(start, min(start + step, length))


def _by_text(vectors: Tensor | None, batch: int, length: int) -> Tensor | None:
    """(batch, length, d_model), float32, from what a module read, with all tokens in one line or not."""
    if vectors is None or vectors.shape[:-1].numel() != batch * length:
        return None
    return vectors.detach().float().reshape(batch, length, -1)
