"""dL / d alpha: a forward pass that keeps no weights, and a backward pass that makes them again with their gradients.

The weight alpha_ij is taken as a variable of its own, as in clark2019 (section 3.2): what its change would do to the
loss, the other weights of its row staying as they are. Blocks of rows bound the memory, as they do without gradients.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from headscope.errors import ModelError
from headscope.lens.block import AttentionBlock, KeySide
from headscope.lens.tokens.batch import Batch
from headscope.lens.watching.capture import Capture, Rows
from headscope.lens.watching.functions import SeenAttention
from headscope.lens.watching.interface import AttentionCall
from headscope.lens.watching.trace import Trace, TracedSite

Show = Callable[[range, Tensor, Tensor | None], None]  # rows, weights, gradients


class GradientBlock(AttentionBlock):
    """A block whose weights come with their gradients: `gradients` (batch, head, row, key), of each text's own loss.

    Both are zero wherever the row does not see the key. Labels are those of the text as it was before masking.
    """

    def __init__(self, *block: Any, gradients: Tensor, masked: Tensor | None = None) -> None:
        super().__init__(*block)
        self.gradients = gradients.float().masked_fill(self.weights == 0, 0)  # batch head row key
        self.masked = masked  # batch key: True where the token is to be predicted; None without a masked-LM loss

    @property
    def seen(self) -> Tensor:
        """(batch, head, row, key): whether the row sees the key.

        Masks make a weight exactly zero: at padding, at later tokens, outside a window.
        """
        return self.weights != 0


class GradientCapture(Capture):
    """Watches a pass that is to be differentiated, and calls `receive` with blocks as the backward pass meets them.

    Blocks come in the order of that pass: the last site first, and of each site the last rows first.
    """

    def __init__(
        self,
        traced: Trace,
        batch: Batch,
        receive: Callable[[GradientBlock], None],
        rows: Rows = "fit",
        masked: Tensor | None = None,
    ) -> None:
        super().__init__(traced, batch, receive, rows)
        self.masked = masked
        # A zero that every attention depends on: what makes autograd record the pass while the parameters are frozen.
        self.anchor = torch.zeros((), device=batch.inputs["input_ids"].device, requires_grad=True)
        self._functions.anchor = self.anchor
        self._hooks: list[Any] = []

    def _read_before(self) -> Iterator[nn.Module]:
        """Nothing: what a pass reads would hold its graph."""
        return iter(())

    def _attend(self, call: AttentionCall) -> tuple[Tensor, None]:
        found = self._next(call.module)
        if found is None:
            return call.rows(0, call.length)[0].to(call.dtype), None
        showing = [
            (one, self._shower(one, call.value[:, :, one.keys], call.key[:, :, one.keys], call.query))
            for one in (found, *found.others)
        ]

        def show(rows: range, weights: Tensor, gradients: Tensor | None) -> None:
            for one, shown in reversed(showing):
                shown(rows, weights[..., one.keys], None if gradients is None else gradients[..., one.keys])

        inputs = call.inputs().values()
        ranges = self._row_ranges(found, call.length, call.query.shape[0], call.key.shape[2])
        parts = [_Rows.apply(self.anchor, call, rows, show, *inputs) for rows in ranges]
        return torch.cat(parts, 1).to(call.dtype), None

    def seen(self, module: nn.Module, attended: SeenAttention) -> None:
        found = self._next(module)
        if found is not None and attended.differentiated.requires_grad:
            show = self._shower(found, attended.values, attended.key, attended.query)
            ranges = list(self._row_ranges(found, attended.length, attended.values.shape[0], attended.values.shape[2]))

            def arrived(gradient: Tensor) -> None:
                for rows in reversed(ranges):
                    here = slice(rows.start, rows.stop)
                    with torch.no_grad():
                        show(rows, attended.rows(rows.start, rows.stop), attended.gradients(gradient, here))

            self._hooks.append(attended.differentiated.register_hook(arrived))

    def _shower(self, found: TracedSite, values: Tensor, keys: Tensor | None, queries: Tensor | None) -> Show:
        """What makes blocks of a site: (rows, weights, gradients) -> receive."""
        site = found.site
        keys, queries = (None if some is None else some.detach() for some in (keys, queries))
        key_side = KeySide(site, values.detach(), keys, self.batch.on(values.device).key_mask(site), found.projection)

        def show(rows: range, weights: Tensor, gradients: Tensor | None) -> None:
            if gradients is None:
                raise ModelError(f"{site.name}: this model does not multiply its values with the weights that it shows.")
            block = self._block(site, rows, weights, queries, key_side)
            self.receive(GradientBlock(*block, gradients=gradients, masked=self.masked))

        return show

    def backward(self, loss: Tensor) -> None:
        """Show every block. Nothing else is computed: no parameter gets a gradient."""
        torch.autograd.grad(loss, self.anchor, allow_unused=True)

    def close(self) -> None:
        """Let go of the tensors that the hooks hold, which hold the hooks."""
        for hook in self._hooks:
            hook.remove()


class _Rows(torch.autograd.Function):
    """A block of rows of the model's own attention; its weights live while they are computed, forward and backward."""

    @staticmethod
    def forward(ctx: Any, anchor: Tensor, call: AttentionCall, rows: range, show: Show, *inputs: Tensor) -> Tensor:
        ctx.call, ctx.rows, ctx.show = call, rows, show
        return call.rows(rows.start, rows.stop)[0]

    @staticmethod
    def backward(ctx: Any, *of_output: Tensor) -> tuple[Tensor | None, ...]:
        leaves = {name: tensor.detach().requires_grad_() for name, tensor in ctx.call.inputs().items()}
        with torch.enable_grad():
            output, weights = ctx.call.with_inputs(leaves).rows(ctx.rows.start, ctx.rows.stop)
        of_weights, *of_inputs = torch.autograd.grad(output, (weights, *leaves.values()), of_output, allow_unused=True)
        ctx.show(ctx.rows, weights.detach(), of_weights)
        return (None, None, None, None, *of_inputs)


@contextmanager
def frozen(model: nn.Module) -> Iterator[None]:
    """Parameters that need no gradient for a while: nothing accumulates in them, and nothing is kept for them."""
    learning = [parameter for parameter in model.parameters() if parameter.requires_grad]
    for parameter in learning:
        parameter.requires_grad_(False)
    try:
        yield
    finally:
        for parameter in learning:
            parameter.requires_grad_(True)
