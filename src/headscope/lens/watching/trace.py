"""One tiny forward pass that finds a model's attentions and, by following the data, each one's W_O and what is around it.

W_O is the linear layer whose input is the attention's output. No table of names is needed: inputs
and outputs of the trace are compared by value.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from headscope.lens.rounding import rounding
from headscope.lens.site import Site, layer_numbers
from headscope.lens.watching.following import Follower, Step
from headscope.lens.watching.functions import FunctionTracer, SeenAttention
from headscope.lens.watching.gating import Gating, find_gating
from headscope.lens.watching.interface import AttentionCall, watching
from headscope.lens.watching.linear import CLOSE, CLOSE_IN_HALF, linear_modules, why_not_linear
from headscope.lens.watching.normalisation import is_near, looks_like_one
from headscope.lens.watching.projection import Kept, Projection
from headscope.lens.watching.residual import (
    Ran,
    ResidualConnection,
    ValueProjection,
    find_residual_connection,
    find_value_projection,
)

NOT_THE_SUM = "its output is not the weighted sum of its values"


class Matrices(NamedTuple):
    """What a head's f is made of: f(x) = (x W_V + b_V) W_O."""

    values: Tensor  # W_V: head d_model d_head
    biases: Tensor  # b_V: head d_head
    output: Tensor  # W_O: head d_head d_model


@dataclass
class TracedSite:
    """A site, and what is needed to read it again: the module, which of its calls, and W_O."""

    site: Site
    module: nn.Module
    call: int  # ALBERT runs one module once per layer; some modules attend twice in a call
    projection: Projection | None
    cuttable: bool  # whether blocks of rows give the same result as all rows
    value_projection: ValueProjection | None = None
    connection: ResidualConnection | None = None

    @property
    def matrices(self) -> Matrices | None:
        """W_V, b_V and W_O of every head; None where one of them is not known, or a gate makes f each row's own."""
        if self.value_projection is None or self.projection is None or self.projection.gating is not None:
            return None
        repeated = self.site.heads // max(1, self.site.key_value_heads)
        values, biases = (
            part.repeat_interleave(repeated, 0) for part in (self.value_projection.matrices, self.value_projection.biases)
        )
        return Matrices(values, biases, self.projection.matrices)


@dataclass
class Trace:
    """What a model's attention consists of."""

    sites: list[TracedSite]
    skipped: list[str]  # what looked like attention but is not over the text's tokens, and why
    watched: list[nn.Module]  # modules in which the second way in has to look


@dataclass
class _Event:
    """One attention seen in the trace."""

    module: nn.Module
    call: int
    capture: str
    weights: Tensor  # batch head query key
    values: Tensor  # batch group key d_head
    output: Tensor  # batch query head d_head
    order: int
    cuttable: bool = True
    followed: Step | None = None  # its output, where what the model makes of it is followed


class _Tracer:
    """Watches both ways in, and every linear layer, for one forward pass."""

    def __init__(self, model: nn.Module, names: dict[nn.Module, str], batch_size: int) -> None:
        self.names = names
        self.layers = dict.fromkeys(linear_modules(model))
        self.kept = Kept()
        self.functions = FunctionTracer(batch_size, self.seen)
        self.follower = Follower()
        self.read: dict[int, Step] = {}  # by the order of a linear layer: how what it read was made of attentions' outputs
        self.order = 0
        self.calls: Counter[nn.Module] = Counter()
        self.events: list[_Event] = []
        self.linear: list[Ran] = []
        self.norms: list[Ran] = []

    def attend(self, call: AttentionCall) -> tuple[Tensor, None]:
        self.functions.paused = True
        output, weights = call.rows(0, call.length)
        cuttable = _same_by_rows(call, output, weights)
        self.functions.paused = False
        output = output.to(call.dtype)
        self._add(call.module, "interface", weights, call.value, output, cuttable)
        self.events[-1].followed = self.follower.begin(output)
        return output, None

    def seen(self, module: nn.Module, attended: SeenAttention) -> None:
        self._add(module, "functions", attended.rows(0, attended.length), attended.values, attended.output)
        self.events[-1].followed = self.follower.begin(attended.result, (attended.output.shape, attended.arranged))

    def _add(
        self, module: nn.Module, capture: str, weights: Tensor, values: Tensor, output: Tensor, cuttable: bool = True
    ) -> None:
        self.order += 1
        event = _Event(module, self.calls[module], capture, weights, values, output, self.order, cuttable)
        self.calls[module] += 1
        self.events.append(event)

    def ran(self, module: nn.Module, inputs: Any, output: Any) -> None:
        """A forward hook on linear layers and normalisations."""
        if inputs and isinstance(inputs[0], Tensor) and isinstance(output, Tensor) and inputs[0].is_floating_point():
            self.order += 1
            given, result = inputs[0].float(), output.float()
            if isinstance(module, nn.Conv1d):
                given, result = given.mT, result.mT
            (self.linear if module in self.layers else self.norms).append(Ran(self.order, module, given, result))
            if module in self.layers and (step := self.follower.step_of(inputs[0])) is not None:
                self.read[self.order] = step

    @contextmanager
    def watch(self) -> Iterator[None]:
        with ExitStack() as stack:
            stack.enter_context(self.functions.inside(self.names))
            stack.enter_context(self.follower)
            stack.callback(self.follower.forget)
            for module in self.names:
                if module in self.layers or looks_like_one(module):
                    stack.callback(module.register_forward_hook(self.ran).remove)
            stack.enter_context(watching(self))
            yield


def traced(model: nn.Module, run: Callable[[], Any], source: int, target: int | None, batch_size: int = 1) -> Trace:
    """Find the attentions that `run()` makes the model compute on `source` (and `target`) tokens."""
    names = {module: name for name, module in model.named_modules()}
    tracer = _Tracer(model, names, batch_size)
    with tracer.watch():
        run()
    is_causal = all(bool((event.weights.triu(1) == 0).all()) for event in tracer.events)
    found: list[TracedSite] = []
    skipped: list[str] = []
    for event in tracer.events:
        name = names[event.module]
        place = _place(event, source, target, is_causal)
        projection, reason = _find_projection(event, tracer, names)
        if place is None:
            skipped.append(f"{name}: {event.weights.shape[2]} x {event.weights.shape[3]} positions, not the text's tokens")
        elif event.capture == "functions" and projection is None and not _are_shares(event.weights, event.output.dtype):
            skipped.append(f"{name}: a softmax whose rows are not shares of the keys")
        else:
            tolerance = _tolerance(event.output.dtype)
            connection = _find_connection(event, projection, tracer, tolerance)
            site = Site(
                index=len(found),
                stack=place[0],
                kind=place[1],
                layer=0,
                heads=event.weights.shape[1],
                key_value_heads=event.values.shape[1],
                head_size=event.values.shape[-1],
                module=name,
                capture=event.capture,
                projection=names[projection.module] if projection else None,
                why_no_norms=reason,
                residual=connection is not None,
                gated=projection is not None and projection.gating is not None,
            )
            values = find_value_projection(event.values, event.order, tracer.linear, tolerance)
            found.append(TracedSite(site, event.module, event.call, projection, event.cuttable, values, connection))
    skipped += _unread(tracer, names, {source * batch_size, (target or source) * batch_size})
    _number_layers(found)
    watched = {event.module: None for event in tracer.events if event.capture == "functions"}
    return Trace(found, skipped, list(watched))


def _unread(tracer: _Tracer, names: dict[nn.Module, str], tokens: set[int]) -> list[str]:
    """Softmaxes that were not seen to weigh all tokens: attention in chunks, say. Routers, with one a token, are none."""
    return [
        f"{names[softmax.stack[-1]]}: a softmax of shape {tuple(softmax.shape)} that does not weigh all tokens"
        for softmax in tracer.functions.softmaxes
        if not softmax.read and softmax.shape[:-1].numel() not in tokens
    ]


def _place(event: _Event, source: int, target: int | None, is_causal: bool) -> tuple[str, str] | None:
    """(stack, kind) from the lengths of the two sides, which differ between source and target."""
    queries, keys = event.weights.shape[2:]
    if target is None:
        return ("decoder" if is_causal else "encoder", "self") if queries == keys == source else None
    return {
        (source, source): ("encoder", "self"),
        (target, target): ("decoder", "self"),
        (target, source): ("decoder", "cross"),
    }.get((queries, keys))


def _number_layers(found: list[TracedSite]) -> None:
    for place in {(traced.site.stack, traced.site.kind) for traced in found}:
        here = [traced for traced in found if (traced.site.stack, traced.site.kind) == place]
        for traced, layer in zip(here, layer_numbers([traced.site.module for traced in here]), strict=True):
            traced.site = replace(traced.site, layer=layer)


def _find_projection(event: _Event, tracer: _Tracer, names: dict[nn.Module, str]) -> tuple[Projection | None, str | None]:
    """W_O of an attention, or the reason why there is none."""
    heads, groups, size = event.weights.shape[1], event.values.shape[1], event.values.shape[-1]
    by_head = event.values.repeat_interleave(heads // groups, dim=1) if groups else event.values
    weighed = (event.weights @ by_head).transpose(1, 2)
    if not is_near(weighed, event.output.float(), _tolerance(event.output.dtype)):
        return None, NOT_THE_SUM
    flat = event.output.float().reshape(-1, heads * size)
    after = [ran for ran in tracer.linear if ran.order > event.order]
    for ran in after:
        offset = _offset_of(flat, ran.given.reshape(-1, ran.given.shape[-1]), size)
        gating = None if offset is not None else _find_gating(event, tracer.read.get(ran.order))
        if offset is None and gating is None:
            continue
        if (why := why_not_linear(ran.module, ran.given, ran.result)) is not None:
            return None, f"{names[ran.module]} {why}"
        rows_first = ran.given.dim() == 3 and ran.given.shape[0] > 1 == ran.given.shape[1]
        which = _which_call(tracer, ran)
        return Projection(ran.module, heads, size, offset or 0, *which, rows_first, gating, tracer.kept), None
    own = set(event.module.modules())
    inside = [names[ran.module] for ran in after if ran.given.shape[-1] == heads * size and ran.module in own]
    if inside:
        return None, f"the model changes its output before {inside[-1]} reads it"
    return None, "no linear layer reads its output"


def _find_gating(event: _Event, read: Step | None) -> Gating | None:
    if event.followed is None or read is None or event.followed not in read.origins:
        return None
    return find_gating(read, event.followed, event.output.device)


def _which_call(tracer: _Tracer, ran: Ran) -> tuple[int, int]:
    """Which of its calls in the pass this one is, and of how many."""
    orders = sorted(other.order for other in tracer.linear if other.module is ran.module)
    return orders.index(ran.order), len(orders)


def _find_connection(
    event: _Event, projection: Projection | None, tracer: _Tracer, tolerance: float
) -> ResidualConnection | None:
    if projection is None:
        return None
    output = [ran for ran in tracer.linear if ran.module is projection.module][projection.call]
    return find_residual_connection(output, event.order, tracer.linear, tracer.norms, tolerance)


def _offset_of(flat: Tensor, given: Tensor, step: int) -> int | None:
    """At which column of a linear layer's input the attention's output stands, if it does."""
    if given.shape[0] != flat.shape[0] or given.shape[1] < flat.shape[1]:
        return None
    for offset in range(0, given.shape[1] - flat.shape[1] + 1, step):
        if is_near(given[:, offset : offset + flat.shape[1]], flat, CLOSE):
            return offset
    return None


def _same_by_rows(call: AttentionCall, output: Tensor, weights: Tensor) -> bool:
    """Whether two blocks of rows give what all rows gave at once."""
    middle = call.length // 2
    if not middle:
        return True
    outputs, maps = zip(call.rows(0, middle), call.rows(middle, call.length), strict=True)
    return is_near(torch.cat(outputs, 1), output, CLOSE) and is_near(torch.cat(maps, 2), weights, CLOSE)


def _tolerance(dtype: torch.dtype) -> float:
    return CLOSE_IN_HALF if dtype in (torch.float16, torch.bfloat16) else CLOSE


def _are_shares(weights: Tensor, dtype: torch.dtype) -> bool:
    sums = weights.sum(-1)
    most = 1 + 1e-3 + rounding(sums, dtype)
    return bool((weights >= 0).all() and (sums > 0).all() and (sums < most).all())  # below 1 with sinks
