"""Proof that a model is read right: for every site, three comparisons with what the model itself computed."""

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor, nn

from headscope.lens.block import AttentionBlock
from headscope.lens.lens import Lens
from headscope.lens.site import Site
from headscope.lens.tokens.batch import Batch
from headscope.lens.watching.dummy import dummy_inputs
from headscope.lens.watching.projection import matrix_of
from headscope.text.document import Document

RECONSTRUCTION = 1e-4  # relative, float32
OWN_WEIGHTS = 1e-6  # absolute, float32
BY_ROWS = 1e-4  # absolute, float32: other block sizes round differently, layer after layer
ROW_SUM = 1e-4
ROWS = 3  # rows in a block in the second run

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
    residual: str | None = None  # how its output joins the residual stream: LN(r + y), r + y, r + LN(y); None if not known
    note: str = ""
    tolerance: float = 1.0  # 1 for float32; looser for half precision

    @property
    def verdict(self) -> str:
        """`ok`, `weights only` or `wrong`."""
        limits = (
            (self.row_sum_error, ROW_SUM),
            (self.own_weights_difference or 0, OWN_WEIGHTS),
            (self.by_rows_difference, BY_ROWS),
            (self.reconstruction_error or 0, RECONSTRUCTION),
        )
        if any(measured > limit * self.tolerance for measured, limit in limits):
            return "wrong"
        return "weights only" if self.reconstruction_error is None else "ok"


@dataclass
class Diagnosis:
    """The doctor's findings for one model."""

    model: str
    architecture: str
    sites: list[SiteReport]
    skipped: list[str]

    @property
    def verdict(self) -> str:
        """`ok`: weights and norms are proven everywhere; `in part`: some attention is not read; `weights only`; `wrong`."""
        verdicts = {report.verdict for report in self.sites}
        found = next((verdict for verdict in ("wrong", "weights only") if verdict in verdicts), "ok")
        return "in part" if found == "ok" and self.skipped else found

    def to_json(self) -> dict[str, Any]:
        rows = [{**asdict(report.site), **asdict(report), "verdict": report.verdict} for report in self.sites]
        for row in rows:
            del row["site"], row["tolerance"]
        return {**vars(self), "verdict": self.verdict, "sites": rows}


def diagnose(lens: Lens, inputs: dict[str, Tensor] | None = None) -> Diagnosis:
    """Run the model on a small padded batch, watched at once, watched in blocks of rows, and by itself; compare."""
    batch = Batch(inputs) if inputs is not None else _example(lens)
    half = lens.model.dtype in (torch.float16, torch.bfloat16)
    ran: dict[nn.Module, list[tuple[Tensor, Tensor]]] = {}
    with _recording(lens, ran):
        whole = _weights_by_site(lens, batch, rows=None)
    cut = _weights_by_site(lens, batch, rows=ROWS)
    own = _own_attentions(lens, batch)
    calls: Counter[nn.Module] = Counter()
    reports = []
    for traced in lens.trace.sites:
        report = SiteReport(traced.site, tolerance=5e4 if half else 1.0)
        report.residual = None if traced.connection is None else traced.connection.form
        (block,) = whole[traced.site]
        report.row_sum_error = _row_sum_error(block.weights, block.row_mask)
        report.by_rows_difference = float((torch.cat([b.weights for b in cut[traced.site]], 2) - block.weights).abs().max())
        report.note = traced.site.why_no_norms or ""
        if traced.projection is not None:
            module = traced.projection.module
            report.reconstruction_error = _reconstruction_error(block, *ran[module][calls[module]])
            calls[module] += 1
        reports.append(report)
    for place in {(site.stack, site.kind) for site in lens.sites}:
        here = [report for report in reports if (report.site.stack, report.site.kind) == place]
        _compare_with_own(here, [whole[report.site][0] for report in here], own.get(place, []))
    return Diagnosis(lens.source.model, type(lens.model).__name__, reports, lens.trace.skipped)


def _weights_by_site(lens: Lens, batch: Batch, rows: int | None) -> dict[Site, list[AttentionBlock]]:
    blocks: dict[Site, list[AttentionBlock]] = {site: [] for site in lens.sites}
    lens.run(batch, lambda block: blocks[block.site].append(block), rows=rows)
    return blocks


def _example(lens: Lens) -> Batch:
    """Two sentences of different length, so that padding is part of the proof."""
    if lens.tokenizer is None:
        return Batch(dummy_inputs(lens.model))
    two = lens.is_encoder_decoder
    return lens.encoder.batch([Document(text, target=target if two else None) for text, target in TEXTS])


@contextmanager
def _recording(lens: Lens, ran: dict[nn.Module, list[tuple[Tensor, Tensor]]]) -> Iterator[None]:
    """Keep what every W_O was given and returned, in order."""

    def keep(module: nn.Module, inputs: Any, output: Any) -> None:
        given, result = inputs[0].float(), output.float()
        if isinstance(module, nn.Conv1d):
            given, result = given.mT, result.mT
        ran.setdefault(module, []).append((given, result))

    modules = {traced.projection.module for traced in lens.trace.sites if traced.projection is not None}
    handles = [module.register_forward_hook(keep) for module in modules]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _reconstruction_error(block: AttentionBlock, given: Tensor, result: Tensor) -> float:
    """|| sum_h sum_j alpha f(x) + b - output || relative to the output, over all rows but padding."""
    projection = block.key_side.projection
    summed = torch.einsum("bhij,bhjd,hdm->bim", block.weights, block.values, projection.matrices)
    rest = given.clone()  # what the same layer reads beside the heads' output (ConvBERT)
    rest[..., projection.offset : projection.offset + projection.heads * projection.head_size] = 0
    bias = getattr(projection.module, "bias", None)
    other = rest @ matrix_of(projection.module).detach().float() + (0 if bias is None else bias.detach().float())
    other, result, real = _batch_first(other, summed), _batch_first(result, summed), block.row_mask
    return float((summed + other - result)[real].abs().max() / result[real].abs().max().clamp(min=1e-30))


def _batch_first(tensor: Tensor, like: Tensor) -> Tensor:
    """(batch, query, d) from that, from (batch * query, d), or from (query, batch, d)."""
    if tensor.dim() == 3 and tensor.shape[:2] != like.shape[:2]:
        return tensor.transpose(0, 1)
    return tensor.reshape(like.shape)


def _row_sum_error(weights: Tensor, real: Tensor) -> float:
    sums = weights.sum(-1).transpose(1, 2)[real]  # row head
    if bool((sums < 1 - ROW_SUM).any()) and bool((sums <= 1 + ROW_SUM).all()):
        return float((sums - 1).clamp(min=0).max())  # sinks take a share of every row, of their own
    return float((sums - 1).abs().max())


def _own_attentions(lens: Lens, batch: Batch) -> dict[tuple[str, str], list[Tensor]]:
    """The model's own eager `output_attentions`, by stack and kind, for what it gives."""
    with lens.unwatched("eager"), torch.no_grad():
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
    apart = [[_largest_difference(block, attention) for attention in own] for block in blocks]
    if len(own) == len(blocks):
        for index, report in enumerate(reports):
            report.own_weights_difference = apart[index][index]
    else:
        claimed = all((_least(column) or 0) <= OWN_WEIGHTS for column in zip(*apart, strict=True))
        for report, differences in zip(reports, apart, strict=True):
            nearest = _least(differences)
            unlisted = nearest is not None and nearest > OWN_WEIGHTS and claimed
            report.own_weights_difference = None if unlisted else nearest
    for report in reports:
        if report.own_weights_difference is None:
            report.note = "; ".join(filter(None, [report.note, "the model gives no output_attentions here"]))


def _least(differences: Iterable[float | None]) -> float | None:
    return min((difference for difference in differences if difference is not None), default=None)


def _largest_difference(block: AttentionBlock, attention: Tensor) -> float | None:
    """Over all rows but padding; None where the model's answer has another shape or is not made of weights."""
    if attention.shape != block.weights.shape:
        return None
    theirs, ours = (weights.transpose(1, 2)[block.row_mask] for weights in (attention.float(), block.weights))
    if not bool((theirs.sum(-1) <= 1 + ROW_SUM).all()) or bool((theirs < 0).any()):
        return None
    return float((ours - theirs).abs().max())
