"""Proof that a model is read right: for every site, comparisons with what the model itself computed.

The limits are those of float32, in any precision: a model that computes in half precision may be off by what rounding
explains as well (rounding.py), number by number, and by no more.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from math import inf, isfinite, isnan
from typing import Any

from headscope.later import Tensor, torch
from headscope.lens.block import AttentionBlock
from headscope.lens.lens import Lens
from headscope.lens.neurons import logits_of
from headscope.lens.proof import (
    RECONSTRUCTION,
    Found,
    Returned,
    believed,
    largest_of,
    recording,
    returned,
    rounding_of_output,
)
from headscope.lens.rounding import ROUNDINGS, ROUNDINGS_OF_LOGITS, rounding, rounding_of_weights
from headscope.lens.site import Site
from headscope.lens.taken_away import taken_away
from headscope.lens.tokens.batch import Batch
from headscope.lens.watching.capture import Capture
from headscope.lens.watching.dummy import dummy_inputs
from headscope.lens.watching.gating import behind
from headscope.lens.watching.hooks import hooks_as_they_were
from headscope.lens.watching.interface import AttentionCall
from headscope.lens.watching.linear import HALVES, computed_in, rounds_inputs
from headscope.text.document import Document

OWN_WEIGHTS = 1e-6  # for the first attention; every one before may have been added up in another order, which adds up
BY_ROWS = 1e-4  # other block sizes round differently, layer after layer
ROW_SUM = 1e-4
ROWS = 3  # rows in a block in the second run
GATED = 4  # roundings more on the way through a gate or a norm: the product, the factor, its own parts

_NOT_FINITE = "numbers here are not finite in this precision"
_NOR_ALONE = "nor are they in the model's own pass: "

TEXTS = (
    ("The keys to the old cabinet are, she said, on the table in the kitchen.", "Les clés sont sur la table."),
    ("Nobody found them there.", "Personne ne les a trouvées là-bas, je crois."),
)


@dataclass
class SiteReport:
    """What was measured at one site. None where it could not be measured; `note` then says why."""

    site: Site
    reconstruction_error: float | None = None  # sum over heads and keys of weight * f(x), plus bias, against the model's
    row_sum_error: float = 0.0  # largest distance of a row's sum from 1; 0 below 1 where the model has sinks
    own_weights_difference: float | None = None  # largest, from the model's own output_attentions
    by_rows_difference: float = 0.0  # largest, between weights read at once and in blocks of rows
    without_error: float | None = (
        None  # of what W_O returns without its heads, and with known vectors in their place; relative
    )
    of_limit: float = 0.0  # the largest of these errors as a share of what is allowed where it stands: over 1 is wrong
    residual: str | None = (
        None  # how its output joins the residual stream: LN(r + y), r + y, r + LN(y), ...; None if not known
    )
    finite_alone: bool = True  # whether all that W_O returns is, in a pass that nobody watches
    note: str = ""

    @property
    def verdict(self) -> str:
        """`ok`, `weights only`, `not finite` or `wrong`."""
        if isnan(self.of_limit) and not self.finite_alone:
            return "not finite"
        if not self.of_limit <= 1:  # nor where it is not a number
            return "wrong"
        return "weights only" if self.reconstruction_error is None else "ok"

    def judge(self, found: Found) -> float:
        """Take a comparison into account; its error."""
        self.of_limit = largest_of(self.of_limit, found.of_limit)
        if isnan(found.of_limit) and _NOT_FINITE not in self.note:
            self.note = _and(self.note, _NOT_FINITE)
        return found.error


def _and(note: str, more: str) -> str:
    return "; ".join(filter(None, [note, more]))


@dataclass
class Diagnosis:
    """The doctor's findings for one model."""

    model: str
    architecture: str
    sites: list[SiteReport]
    skipped: list[str]

    @property
    def verdict(self) -> str:
        """`ok`: weights and norms are proven everywhere; `in part`: some attention is not read; `weights only`; `wrong`.

        `not finite`: the model itself computes numbers that are none.
        """
        verdicts = {report.verdict for report in self.sites}
        found = next((verdict for verdict in ("wrong", "not finite", "weights only") if verdict in verdicts), "ok")
        return "in part" if found == "ok" and self.skipped else found

    def to_json(self) -> dict[str, Any]:
        rows = [{**asdict(report.site), **asdict(report), "verdict": report.verdict} for report in self.sites]
        for row in rows:
            del row["site"]
            row |= {name: None for name, value in row.items() if isinstance(value, float) and not isfinite(value)}
        return {**vars(self), "verdict": self.verdict, "sites": rows}


def diagnose(lens: Lens, inputs: dict[str, Tensor] | None = None) -> Diagnosis:
    """Run the model on a small padded batch, watched at once, watched in blocks of rows, and by itself; compare."""
    batch = Batch(inputs) if inputs is not None else _example(lens)
    ran: Returned = {}
    with recording(lens, ran):
        whole = _blocks_by_site(lens, batch, Capture, rows=None)
    coarse = _is_coarse(lens)
    alike = _blocks_by_site(lens, batch, _HandingOn, rows=None) if coarse else whole
    cut = _blocks_by_site(lens, batch, _HandingOn if coarse else Capture, rows=ROWS)
    own = _own_attentions(lens, batch)
    taken = taken_away(lens, batch)
    reports = []
    for traced in lens.trace.sites:
        site = traced.site
        connection = None if traced.connection is None else traced.connection.form
        report = SiteReport(site, residual=connection, note=site.why_no_norms or "")
        (block,), (by_itself,) = whole[site], alike[site]
        together = torch.cat([part.weights for part in cut[site]], 2)
        report.row_sum_error = report.judge(_row_sums(block, lens.model.dtype))
        report.by_rows_difference = report.judge(Found.between(together, by_itself.weights, BY_ROWS))
        if traced.projection is not None:
            module = traced.projection.module
            siblings = [whole[one.site][0] for one in lens.trace.sites if one.is_beside(traced)]
            found = _reconstruction(block, siblings, *ran[module][traced.projection.call])
            report.reconstruction_error = report.judge(found)
            if (rounded := rounds_inputs(module)) is not None:
                report.note = _and(report.note, f"{site.projection} rounds what it reads to {rounded}")
        if site in taken.by_site:
            report.without_error = report.judge(taken.by_site[site])
            if not taken.restored:
                report.of_limit, report.note = inf, _and(report.note, "heads that were taken away and given back changed it")
        reports.append(report)
    for place in {(site.stack, site.kind) for site in lens.sites}:
        here = [report for report in reports if (report.site.stack, report.site.kind) == place]
        _compare_with_own(here, [alike[report.site][0] for report in here], own.get(place, []))
    if any(isnan(report.of_limit) for report in reports):
        _look_at_it_alone(lens, batch, reports)
    return Diagnosis(lens.source.model, type(lens.model).__name__, reports, lens.trace.skipped)


def _look_at_it_alone(lens: Lens, batch: Batch, reports: list[SiteReport]) -> None:
    """Numbers that are none may be the model's own: a mask of -1e10 is infinite in float16, and of a row that sees nothing
    a softmax makes none (LongT5's padding).
    """
    finite = {
        module: [bool(result.isfinite().all()) for _, result in calls] for module, calls in returned(lens, batch).items()
    }
    for report, traced in zip(reports, lens.trace.sites, strict=True):
        projection = traced.projection
        alone = all(map(all, finite.values())) if projection is None else finite[projection.module][projection.call]
        report.finite_alone = alone
        if report.verdict == "not finite":
            report.note = _and(report.note, _NOR_ALONE + _way_out(lens.model.dtype))


def _way_out(dtype: torch.dtype) -> str:
    if dtype in HALVES:
        return "open it in float32" + (
            ", or in bfloat16, whose largest numbers are as large" if dtype is torch.float16 else ""
        )
    return "its weights may be damaged, so load it anew"


class _HandingOn(Capture):
    """Shows the same blocks, but hands on what the model itself computes, in its own precision.

    Rounded differently, a model's layers would drift apart, and a site could not be compared with that of another run.
    """

    def _attend(self, call: AttentionCall) -> tuple[Tensor, None]:
        super()._attend(call)
        return call.alone(), None


def _is_coarse(lens: Lens) -> bool:
    """Whether a last digit may grow from layer to layer: in half precision, and where layers round what they read."""
    linear, dtype = [one.projection.module for one in lens.trace.sites if one.projection is not None], lens.model.dtype
    return dtype in HALVES or any(rounds_inputs(one) or computed_in(one, dtype) in HALVES for one in linear)


def _blocks_by_site(lens: Lens, batch: Batch, how: type[Capture], rows: int | None) -> dict[Site, list[AttentionBlock]]:
    blocks: dict[Site, list[AttentionBlock]] = {site: [] for site in lens.sites}
    lens.run_watched(how(lens.trace, batch, lambda block: blocks[block.site].append(block), rows))
    return blocks


def _example(lens: Lens) -> Batch:
    """Two sentences of different length, so that padding is part of the proof."""
    if lens.tokenizer is None:
        return Batch(dummy_inputs(lens.model))
    two = lens.is_encoder_decoder
    return lens.encoder.batch([Document(text, target=target if two else None) for text, target in TEXTS])


def _reconstruction(block: AttentionBlock, siblings: list[AttentionBlock], given: Tensor, result: Tensor) -> Found:
    """|| sum_h sum_j alpha f(x) + b - output || relative to the output, over all rows but padding.

    Judged in two steps, and as a whole: whether W_O was given the sums of alpha v, and whether it made of what it was
    given what we take it to make. In half precision, rounding explains little of either. Siblings have other keys of the
    same softmax.
    """
    projection, device = block.key_side.projection, given.device
    precision = computed_in(projection.module, result.dtype)
    # In float64: by the model's own functions in the model's own precision, nothing might differ, and nothing be said.
    weights = torch.cat([one.weights for one in (block, *siblings)], -1).cpu().double()
    values = torch.cat([one.values for one in (block, *siblings)], 2).cpu().double()
    summed = torch.einsum("bhij,bhjd->bihd", weights, values)
    sizes = torch.einsum("bhij,bhjd->bihd", weights, values.abs())
    if block.gates is not None:
        gates = block.gates.cpu().double()
        summed, sizes = behind(gates, summed), GATED * behind(gates.abs(), sizes)
    summed, sizes, real = summed.flatten(2), sizes.flatten(2), block.row_mask.cpu()
    given, result = (_batch_first(tensor.cpu().double(), summed)[real] for tensor in (given, result))  # row feature
    summed, sizes = summed[real], sizes[real]
    heads = projection.columns.flatten().cpu()
    ours = given.clone()  # with what the same layer reads beside the heads' output (ConvBERT)
    ours[:, heads] = 0
    ours.index_add_(1, heads, summed)  # heads may share a place, from which one is subtracted
    unsure = torch.zeros_like(given).index_add_(1, heads, rounding(sizes, precision))
    matrix, bias = (part.cpu().double() for part in believed(projection))
    made = given @ matrix + bias
    beside = given.clone()
    beside[:, heads] = 0
    # Head by head, with the matrices that measures multiply: heads may share features.
    through = beside @ matrix + bias + summed @ projection.matrices.flatten(0, 1).cpu().double()
    moved = rounding_of_output(projection, given.float().to(device), result.float().to(device), precision)
    explained = moved.cpu().double()
    largest = float(result.abs().max().clamp(min=1e-30))
    limit = RECONSTRUCTION * largest
    steps = (
        Found.between(ours, given, RECONSTRUCTION * float(given[:, heads].abs().max()), unsure),
        Found.between(made, result, limit, explained),
        Found.between(through, result, limit, explained + unsure @ matrix.abs()),
    )
    return Found(steps[-1].error / largest, largest_of(*(step.of_limit for step in steps)))


def _batch_first(tensor: Tensor, like: Tensor) -> Tensor:
    """(batch, query, d) from that, from (batch * query, d), or from (query, batch, d)."""
    if tensor.dim() == 3 and tensor.shape[:2] != like.shape[:2]:
        tensor = tensor if len(tensor) == len(like) else tensor.transpose(0, 1)
    return tensor.reshape(len(like), -1, tensor.shape[-1])[:, : like.shape[1]]  # a model may pad to its own block size


def _row_sums(block: AttentionBlock, dtype: torch.dtype) -> Found:
    sums = block.weights.sum(-1).transpose(1, 2)[block.row_mask]  # row head
    # Through the interface, weights are computed in float32; elsewhere they are the model's own.
    # Those found by what values become may be of an exp(x - logsumexp(x)), whose argument was rounded too.
    capture, roundings = block.site.capture, ROUNDINGS
    if capture == "values":
        roundings += ROUNDINGS_OF_LOGITS
    explained = rounding(sums, torch.float32 if capture == "interface" else dtype, roundings)
    if bool((sums < 1 - ROW_SUM - explained).any()) and bool((sums <= 1 + ROW_SUM + explained).all()):
        sums = sums.clamp(min=1)  # sinks take a share of every row, of their own
    return Found.between(sums, torch.ones_like(sums), ROW_SUM, explained)


def _own_attentions(lens: Lens, batch: Batch) -> dict[tuple[str, str], list[Tensor]]:
    """The model's own eager `output_attentions`, by stack and kind, for what it gives."""
    with lens.unwatched("eager"), hooks_as_they_were(lens.model), torch.no_grad():
        try:
            output = lens.forward(batch.inputs, output_attentions=True)
        except (TypeError, ValueError):  # the model does not know the option, or refuses it
            return {}
    given = {
        ("encoder", "self"): getattr(output, "encoder_attentions", None),
        ("decoder", "self"): getattr(output, "decoder_attentions", None),
        ("decoder", "cross"): getattr(output, "cross_attentions", None),
    }
    if not batch.has_target:
        given[(lens.sites[0].stack, "self")] = getattr(output, "attentions", None)
    return {place: _tensors_in(attentions) for place, attentions in given.items()}


def _tensors_in(attentions: Any) -> list[Tensor]:
    """The maps of a model's answer, which may nest them or leave gaps."""
    if isinstance(attentions, Tensor):
        return [attentions]
    if isinstance(attentions, dict):
        return _tensors_in(list(attentions.values()))
    return [tensor for part in attentions or () for tensor in _tensors_in(part)]


def _compare_with_own(reports: list[SiteReport], blocks: list[AttentionBlock], own: list[Tensor]) -> None:
    """Fill in the largest difference from the model's own maps, for the sites of one stack and kind.

    One map a site, in order, where the model gives that many. Hybrid models list some layers only, or
    others as well: a site's map is then the nearest one, and a site may have none as long as every map
    has its site.
    """
    apart = [[_from_own(block, attention) for attention in own] for block in blocks]
    if len(own) == len(blocks):
        chosen = [apart[index][index] for index in range(len(own))]
    else:
        claimed = all(_is_one(_nearest(column)) for column in zip(*apart, strict=True))
        chosen = [nearest if _is_one(nearest := _nearest(found)) or not claimed else None for found in apart]
    for report, found in zip(reports, chosen, strict=True):
        if found is not None:
            report.own_weights_difference = report.judge(found)
        else:
            report.note = _and(report.note, "the model gives no output_attentions here")


def _nearest(found: Iterable[Found | None]) -> Found | None:
    return min((one for one in found if one is not None), default=None, key=lambda one: one.of_limit)


def _is_one(found: Found | None) -> bool:
    return found is None or found.of_limit <= 1


def _from_own(block: AttentionBlock, attention: Tensor) -> Found | None:
    """Over all rows but padding; None where the model's answer has another shape or is not made of weights."""
    if attention.shape != block.weights.shape:
        return None
    logits = logits_of(block)
    theirs, ours, logits = (maps.transpose(1, 2)[block.row_mask] for maps in (attention.float(), block.weights, logits))
    sums = theirs.sum(-1)
    if bool((sums > 1 + ROW_SUM + rounding(sums, attention.dtype)).any()) or bool((theirs < 0).any()):
        return None
    limit = OWN_WEIGHTS * (1 + block.site.index)
    return Found.between(ours, theirs, limit, rounding_of_weights(ours, logits, attention.dtype))
