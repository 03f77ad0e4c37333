"""Made of what one tiny forward pass shows (tracer.py): a model's attentions, each one's W_O, and what is around it.

W_O is the linear layer whose input is the attention's output. No table of names is needed: inputs
and outputs of the trace are compared by value.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from headscope.lens.rounding import rounding
from headscope.lens.site import Site, layer_numbers
from headscope.lens.watching.following import Step
from headscope.lens.watching.functions import Softmax
from headscope.lens.watching.gating import Gating, find_gating
from headscope.lens.watching.linear import CLOSE, CLOSE_IN_HALF, is_linear_like, why_not_linear
from headscope.lens.watching.local import ValuePath, find_value_path, is_rows_first
from headscope.lens.watching.normalisation import is_near
from headscope.lens.watching.projection import Projection
from headscope.lens.watching.residual import (
    Ran,
    ResidualConnection,
    ValueProjection,
    find_residual_connection,
    find_value_projection,
)
from headscope.lens.watching.tracer import Event, Tracer

NOT_THE_SUM = "its output is not the weighted sum of its values: something else is added to it, and norms would leave it out"
_NO_LAYER = "no linear layer reads its output: W_O may be chosen row by row among experts, or be no layer"

ALL = slice(None)


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
    path: ValuePath | None = None  # how its weights are found, where they are no matrix of the model's
    keys: slice = field(default_factory=lambda: ALL)  # which of the keys are its own
    others: list["TracedSite"] = field(default_factory=list)  # to whom other keys of the same softmax belong

    def is_beside(self, other: "TracedSite") -> bool:
        """Whether two sites have keys of the same softmax."""
        return self is not other and self.module is other.module and self.call == other.call

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


def traced(model: nn.Module, run: Callable[[], Any], source: int, target: int | None) -> Trace:
    """Find the attentions that `run()` makes the model compute on one text of `source` (and `target`) tokens."""
    names = {module: name for name, module in model.named_modules()}
    tracer = Tracer(model, names)
    with tracer.watch():
        run()
    unread = _read_local(tracer, source, target)
    is_causal = all(bool((event.weights.triu(1) == 0).all()) for event in tracer.events)
    found: list[TracedSite] = []
    skipped: list[str] = []
    for event in tracer.events:
        name = names[event.module]
        places = _places(event, source, target, is_causal)
        projection, reason = (event.path[1], None) if event.path else _find_projection(event, tracer, names)
        if not places:
            skipped.append(f"{name}: {event.weights.shape[2]} x {event.weights.shape[3]} positions, not the text's tokens")
        elif event.capture == "functions" and projection is None and not _are_shares(event.weights, event.output.dtype):
            skipped.append(f"{name}: a softmax whose rows are not shares of the keys")
        else:
            if projection is not None and len(places) > 1:
                projection = replace(projection, joint=True)
            tolerance = _tolerance(event.output.dtype)
            connection = _find_connection(event, projection, tracer, tolerance)
            path = event.path[0] if event.path else None
            of_event: list[TracedSite] = []
            for stack, kind, keys in places:
                site = Site(
                    index=len(found) + len(of_event),
                    stack=stack,
                    kind=kind,
                    layer=0,
                    heads=event.weights.shape[1],
                    key_value_heads=event.values.shape[1],
                    head_size=event.values.shape[-1],
                    module=name,
                    capture=event.capture,
                    projection=names[projection.module] if projection else None,
                    why_no_norms=reason,
                    residual=connection is not None,
                    gated=event.path is None and projection is not None and projection.gating is not None,
                )
                values = find_value_projection(event.values[:, :, keys], event.order, tracer.linear, tolerance)
                how = event.module, event.call, projection, event.cuttable, values, connection, path, keys
                of_event.append(TracedSite(site, *how))
            of_event[0].others = of_event[1:]
            found += of_event
    skipped += [
        f"{names[softmax.stack[-1]]}: a softmax of shape {tuple(softmax.shape)} that does not weigh all tokens"
        for softmax in unread
    ]
    _number_layers(found)
    watched = {event.module: None for event in tracer.events if event.capture == "functions"}
    return Trace(found, skipped, list(watched))


def _read_local(tracer: Tracer, source: int, target: int | None) -> list[Softmax]:
    """Add the attentions of softmaxes that were not seen to multiply values: those in chunks, say. The softmaxes left."""
    left: list[Softmax] = []
    found: dict[nn.Module, bool] = {}  # by module, whether attentions of this kind are in it
    attending = {event.module for event in tracer.events}
    for softmax in tracer.functions.softmaxes:
        if softmax.read or softmax.is_of_tokens({source, target or source}):
            continue
        owner = next(module for module in reversed(softmax.stack) if any(is_linear_like(one) for one in module.modules()))
        if owner not in found:
            # What stands beside an attention and shares its W_O (ConvBERT's convolution) is no other attention.
            found[owner] = owner not in attending and _add_local(tracer, owner, source, target)
        if not found[owner] and softmax.named and softmax.compares:
            left.append(softmax)
    tracer.events.sort(key=lambda event: event.order)
    return left


def _add_local(tracer: Tracer, owner: nn.Module, source: int, target: int | None) -> bool:
    """The attentions whose values the linear layers of a module make."""
    inside = set(owner.modules())
    found = False
    for ran, read in tracer.value_reads:
        for values in read.origins:
            made = tracer.made[values]
            length = made.result.shape[:-1].numel()
            tokens = max((n for n in (source, target or source) if n <= length), default=0)
            if made.module not in inside or length >= 2 * tokens:
                continue
            (call, _), tolerance = _which_call(tracer, made), _tolerance(tracer.precisions[made.order])
            path = find_value_path(read, values, made.result, ran.given, made.module, call, tolerance)
            if path is not None:
                weights = path.weights(read, values)[:, :, :tokens, :tokens]
                own = path.values(made.result, 1)[:, :, :tokens]
                output = (weights @ own).transpose(1, 2).to(tracer.precisions[made.order])
                gating = Gating(path.columns, ())
                which = *_which_call(tracer, ran), path.rows_first[1]
                projection = Projection(ran.module, path.heads, own.shape[-1], 0, *which, gating, tracer.kept)
                call = sum(event.module is owner for event in tracer.events)
                event = Event(owner, call, "values", weights, own, output, ran.order, True, (path, projection))
                tracer.events.append(event)
                found = True
    return found


def _places(event: Event, source: int, target: int | None, is_causal: bool) -> list[tuple[str, str, slice]]:
    """(stack, kind, keys) from the lengths of the two sides, which differ between source and target.

    Two where one softmax is over the keys of both (T5Gemma 2, whose target comes first).
    """
    queries, keys = event.weights.shape[2:]
    if target is None:
        return [("decoder" if is_causal else "encoder", "self", ALL)] if queries == keys == source else []
    if (queries, keys) == (target, target + source) and event.capture == "interface":
        own = event.weights[..., :target]
        if bool((own.triu(1) == 0).all()):
            return [("decoder", "self", slice(0, target)), ("decoder", "cross", slice(target, None))]
    known = {
        (source, source): ("encoder", "self", ALL),
        (target, target): ("decoder", "self", ALL),
        (target, source): ("decoder", "cross", ALL),
    }.get((queries, keys))
    return [] if known is None else [known]


def _number_layers(found: list[TracedSite]) -> None:
    for place in {(traced.site.stack, traced.site.kind) for traced in found}:
        here = [traced for traced in found if (traced.site.stack, traced.site.kind) == place]
        for traced, layer in zip(here, layer_numbers([traced.site.module for traced in here]), strict=True):
            traced.site = replace(traced.site, layer=layer)


def _find_projection(event: Event, tracer: Tracer, names: dict[nn.Module, str]) -> tuple[Projection | None, str | None]:
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
        which = *_which_call(tracer, ran), is_rows_first(ran.given)
        return Projection(ran.module, heads, size, offset or 0, *which, gating, tracer.kept), None
    own = set(event.module.modules())
    inside = [names[ran.module] for ran in after if ran.given.shape[-1] == heads * size and ran.module in own]
    if inside:
        return None, f"the model changes its output before {inside[-1]} reads it"
    return None, _NO_LAYER


def _find_gating(event: Event, read: Step | None) -> Gating | None:
    if event.followed is None or read is None or event.followed not in read.origins:
        return None
    return find_gating(read, event.followed, event.output.device)


def _which_call(tracer: Tracer, ran: Ran) -> tuple[int, int]:
    """Which of its calls in the pass this one is, and of how many."""
    orders = sorted(other.order for other in tracer.linear if other.module is ran.module)
    return orders.index(ran.order), len(orders)


def _find_connection(
    event: Event, projection: Projection | None, tracer: Tracer, tolerance: float
) -> ResidualConnection | None:
    if projection is None:
        return None
    output = [ran for ran in tracer.linear if ran.module is projection.module][projection.call]
    if output.given.shape[-1] != projection.columns.unique().numel():
        return None  # what it adds to the stream is not of its heads alone (ConvBERT's convolution)
    return find_residual_connection(output, event.order, tracer.linear, tracer.norms, tolerance)


def _offset_of(flat: Tensor, given: Tensor, step: int) -> int | None:
    """At which column of a linear layer's input the attention's output stands, if it does."""
    if given.shape[0] != flat.shape[0] or given.shape[1] < flat.shape[1]:
        return None
    for offset in range(0, given.shape[1] - flat.shape[1] + 1, step):
        if is_near(given[:, offset : offset + flat.shape[1]], flat, CLOSE):
            return offset
    return None


def _tolerance(dtype: torch.dtype) -> float:
    return CLOSE_IN_HALF if dtype in (torch.float16, torch.bfloat16) else CLOSE


def _are_shares(weights: Tensor, dtype: torch.dtype) -> bool:
    sums = weights.sum(-1)
    most = 1 + 1e-3 + rounding(sums, dtype)
    return bool((weights >= 0).all() and (sums > 0).all() and (sums < most).all())  # below 1 with sinks
