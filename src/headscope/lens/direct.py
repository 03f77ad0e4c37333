"""DirectPass: what is added to a model's residual stream, and what each of it does to the output along the direct path."""

from __future__ import annotations

import inspect
import re
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from headscope.errors import ModelError
from headscope.later import Tensor, nn, torch
from headscope.lens import watching
from headscope.lens.site import Site
from headscope.lens.task import word_logits

if TYPE_CHECKING:
    from headscope.lens.lens import Lens
    from headscope.lens.tokens.batch import Batch
    from headscope.lens.watching.direct_path import Joined

Kind = Literal["embedding", "attention", "mlp", "other", "bias"]
_OTHER = re.compile(r"mamba|ssm|conv|linear_attn|recurrent|rwkv|mixer|lru", re.IGNORECASE)


@dataclass(frozen=True)
class Part:
    """What joined the stream beside the heads, and its part of the output at every position."""

    kind: Kind
    stack: str | None
    layer: int | None  # None before the first layer and behind the last
    module: str
    amounts: Tensor  # batch row


@dataclass(frozen=True)
class Directions:
    """The direct way to some output: for every attention, u with which <y_i, u_i> is its part; and the other parts."""

    by_site: dict[Site, Tensor]  # batch row d_model
    others: list[Part]


class DirectPass:
    """One differentiable pass over a batch, of which the direct path is kept (watching/direct_path.py).

    `output` is (batch, row, ...): logits over the vocabulary; with `states=True` the final states, without the head; with
    `until`, what that module returns.
    """

    def __init__(self, lens: Lens, batch: Batch, *, states: bool = False, until: nn.Module | None = None) -> None:
        if lens.closed:
            raise ModelError("This lens is closed: open the model again.")
        model: Any = lens.model
        self._lens = lens
        path = watching.DirectPath(model, lens.trace, model.get_input_embeddings(), model.get_output_embeddings())
        run = _states_of if states else _logits_of
        seen: list[Tensor] = []
        with ExitStack() as stack:
            for context in (torch.inference_mode(False), torch.enable_grad(), watching.frozen(model), path.watch()):
                stack.enter_context(context)
            if until is not None:
                stack.callback(until.register_forward_hook(lambda _, __, output: seen.append(output)).remove)
            output = run(lens, batch)
        self.output: Tensor = seen[-1] if seen else output
        self.unknown = path.unknown
        self._joined = path.joined
        self._joining: set[Site] | None = None

    def directions(self, weights: Tensor) -> Directions:
        """The way to sum(weights * output), with weights like `output` (or broadcast to it)."""
        leaves = [one.leaf for one in self._joined]
        wanted = (self.output * weights).sum()
        if not wanted.requires_grad:
            raise ModelError(f"{self._lens.name}: no direct path from its residual stream to its output was found.")
        gradients = torch.autograd.grad(wanted, leaves, allow_unused=True, retain_graph=True)
        by_site: dict[Site, Tensor] = {}
        others: list[Part] = []
        for one, gradient in zip(self._joined, gradients, strict=True):
            if gradient is None:
                continue  # of the encoder, or of what is read again and never added
            u = self._by_row(gradient, one)
            if one.site is None:
                others.append(self._part(one, (u * self._by_row(one.leaf.detach(), one)).sum(-1)))
            else:
                by_site[one.site] = u
                others += self._beside_heads(one, u)
        return Directions(by_site, others)

    def joins(self, site: Site) -> bool:
        """Whether an attention writes to the stream that the output is made of: an encoder's does not, for a decoder."""
        if self._joining is None:
            self._joining = set(self.directions(torch.ones_like(self.output)).by_site)
        return site in self._joining

    def written(self, site: Site, vectors: Tensor, row: int) -> Tensor:
        """What vectors (..., d_model), added to what W_O returns at `row` of the first text, do to the output there.

        The direct path is linear; its matrix is never made: (..., d_model) -> (..., output)
        """
        one = next(one for one in self._joined if one.site == site)
        output = self.output[0, row]
        along = torch.zeros_like(output, requires_grad=True)
        with torch.enable_grad():
            (gradient,) = torch.autograd.grad(output, one.leaf, along, create_graph=True)
            back = self._by_row(gradient, one)[0, row]  # d_model: W^T along
            flat = vectors.reshape(-1, vectors.shape[-1])
            found = [torch.autograd.grad(back, along, vector, retain_graph=True)[0] for vector in flat]
        return torch.stack(found).reshape(*vectors.shape[:-1], -1)

    def _by_row(self, vectors: Tensor, one: Joined) -> Tensor:
        """(batch, row, d), however the model arranges its texts."""
        rows, size = self.output.shape[:2], vectors.shape[-1]
        if one.channels_first:
            vectors, size = vectors.mT, vectors.shape[-2]
        if vectors.dim() == 3 and vectors.shape[:2] != rows and vectors.shape[:2] == (rows[1], rows[0]):
            vectors = vectors.transpose(0, 1)
        if vectors.numel() != rows.numel() * size:
            raise ModelError(f"{self._lens.name}: what {one.module or 'the model'} adds is not a vector a token.")
        return vectors.float().reshape(*rows, size)

    def _beside_heads(self, one: Joined, u: Tensor) -> list[Part]:
        """The bias of W_O, and what the same layer reads beside the heads (ConvBERT)."""
        assert one.site is not None
        projection = self._lens.trace.sites[one.site.index].projection
        assert projection is not None
        found = []
        bias = projection.bias
        if bias is not None:
            found.append(Part("bias", one.site.stack, one.site.layer, one.module, u @ bias.to(u)))
        if one.given is not None:
            given = self._by_row(one.given, one).clone()
            given[..., projection.columns.flatten()] = 0
            rest = (given @ watching.matrix_of(projection.module).detach().float() * u).sum(-1)
            found.append(Part("other", one.site.stack, one.site.layer, one.module, rest))
        return found

    def _part(self, one: Joined, amounts: Tensor) -> Part:
        sites = [site for site in self._lens.sites if site.module and one.module.startswith(f"{site.module}.")]
        layer = None if one.behind else self._layer(one)
        stack = None if layer is None else self._lens.sites[-1].stack
        if one.is_bias or one.behind:
            kind: Kind = "bias"
        elif layer is None:
            kind = "embedding"
        else:
            inside = re.split(r"\.\d+\.", one.module, maxsplit=1)[-1]  # of its layer: a model may be called ConvBERT
            kind = "attention" if sites else "other" if _OTHER.search(inside) else "mlp"
        return Part(kind, stack, layer, one.module, amounts)

    def _layer(self, one: Joined) -> int | None:
        """By the number in its module's name; where layers share their modules (ALBERT), by the attentions before it."""
        own = next((int(part) for part in one.module.split(".") if part.isdigit()), None)
        if own is None:
            return None
        sites = [site for site in self._lens.sites if site.stack == self._lens.sites[-1].stack and site.kind == "self"]
        if len({site.module for site in sites}) == len(sites):
            return own
        return sites[max(one.order - 1, 0)].layer


def _logits_of(lens: Lens, batch: Batch) -> Tensor:
    accepted = inspect.signature(lens.model.forward).parameters
    options: dict[str, Any] = {"use_cache": False} if "use_cache" in accepted else {}
    return word_logits(lens.model(**batch.inputs, **options))


def _states_of(lens: Lens, batch: Batch) -> Tensor:
    states: Tensor = lens.forward(batch.inputs).last_hidden_state
    return states
