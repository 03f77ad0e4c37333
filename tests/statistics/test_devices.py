"""Nothing between the model's call and a statistic's sums mixes devices or waits for one: shown on the meta device.

A tensor there has a shape and no numbers. Whoever asks it for one (`.item()`, `.cpu()`, `bool`, `nonzero`) gets an
error, and so does whoever joins it with a tensor of another device: what runs there runs on any, without a stop.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
import torch
from benchmarks.host_waits import HostWaits, waits_of
from transformers import masking_utils

import headscope
from headscope.lens.block import AttentionBlock
from headscope.lens.score_block import ScoreBlock
from headscope.lens.tokens import batch as batches
from headscope.lens.watching import plain
from headscope.lens.watching.linear import state_of
from headscope.lens.word_blocks import WordRows
from headscope.statistics import STATISTICS, Statistic, usual_statistics
from tests.statistics.examples import documents_for
from tests.statistics.tester import lens_for
from tests.tiny import tiny
from tests.tiny_tokenizers import tiny_tokenizer

# They read single pairs, or what only the numbers tell: on the host, and so once a block or a batch. None of them is usual.
ON_THE_HOST = {
    "alignment_errors", "antecedents", "dependency_lengths", "dispersion", "effective_by_length", "entropy_ends",
    "exemplars", "frequency", "frequency_curve", "head_agreement", "input_dispersion", "jensen_shannon",
    "norm_correlation", "norm_scatter", "relations", "relation_types",
}  # fmt: skip
ELSEWHERE = sorted(set(STATISTICS) - ON_THE_HOST - {"importance", "variability"})  # which need gradients, a first pass


@pytest.fixture(scope="module", params=[("bert", "own"), ("llama", "own"), ("llama", "plain")], ids="-".join)
def blocks(request: pytest.FixtureRequest) -> Iterator[list[AttentionBlock]]:
    """All blocks of a batch, from a model that runs on the meta device: with its own attention function, and with ours."""
    family, attention = request.param
    lens = headscope.open(tiny(family), tiny_tokenizer("wordpiece" if family == "bert" else "bpe"))
    found: list[AttentionBlock] = []
    with lens:
        documents = documents_for(family)
        on_cpu: list[AttentionBlock] = []
        lens.run(lens.encoder.batch(documents), on_cpu.append)
        projections = [block.key_side.projection for block in on_cpu]
        made = [{"roots": one.roots.to("meta"), "inner": one.inner.to("meta")} for one in projections]
        lens.model.to("meta")
        for one, derived in zip(projections, made, strict=True):  # they are made once a model, on the host
            one._derived, one._state = derived, state_of(one.module)
        batch = lens.encoder.batch(documents)
        mask = batch.inputs["attention_mask"].bool()
        batch.__dict__["_cached"] = {(batches._mask, ("source",)): mask}  # whether anything is padded: asked once a batch
        with pytest.MonkeyPatch.context() as patch:  # BERT itself asks, once a batch, whether its mask is needed
            patch.setattr(masking_utils, "_ignore_bidirectional_mask_sdpa", lambda *_, **__: False)
            patch.setattr(plain, "small", lambda: 0 if attention == "plain" else 10**9)
            lens.run(batch, found.append, rows=5)
        assert {block.weights.device.type for block in found} == {"meta"}
        yield found


def fed(statistic: Statistic, blocks: list[AttentionBlock]) -> Statistic:
    fresh = statistic.start(list(dict.fromkeys(block.site for block in blocks)))
    for block in blocks:
        fresh.update(block)
    return fresh


@pytest.mark.parametrize("measure", ["weight", "norm"])
@pytest.mark.parametrize("name", ELSEWHERE)
def test_updates_neither_wait_nor_mix(name: str, measure: str, blocks: list[AttentionBlock]) -> None:
    kind = STATISTICS[name]
    if kind.measures and measure not in kind.measures:
        pytest.skip(f"{name} has no measure {measure}")
    found = fed(kind(measure=measure), blocks)
    waiting = [amount for *_, amount in found._pending.waiting if isinstance(amount, torch.Tensor)]
    assert waiting
    assert {amount.device.type for amount in waiting} == {"meta"}


@pytest.mark.parametrize("measure", ["weight", "norm"])
def test_words_neither_wait_nor_mix(measure: str, blocks: list[AttentionBlock]) -> None:
    """Pieces are merged where the model is: which words a block begins and ends is known before it comes."""
    sites = list(dict.fromkeys(block.site for block in blocks))
    started = [STATISTICS[name](measure=measure, level="word").start(sites) for name in usual_statistics()]
    seen: list[range] = []

    def receive(block: ScoreBlock) -> None:
        seen.append(block.rows)
        for statistic in started:
            statistic.update(block)

    merging = WordRows([measure], receive)
    for block in blocks:
        merging(block)
    assert len(seen) > len(sites)  # rows=5: several blocks a site
    waiting = [amount for one in started for *_, amount in one._pending.waiting if isinstance(amount, torch.Tensor)]
    assert {amount.device.type for amount in waiting} == {"meta"}


def test_no_usual_statistic_is_left_out() -> None:
    assert not ON_THE_HOST & set(usual_statistics())
    assert set(STATISTICS) >= ON_THE_HOST


@dataclass
class Asking(Statistic):
    """Waits for a number."""

    name = "asking"
    sums = ("total",)

    def update(self, block: ScoreBlock) -> None:
        self.add(block.site, total=block.weights.sum().item())


@dataclass
class Mixing(Statistic):
    """Has a mask on another device."""

    name = "mixing devices"
    sums = ("total",)

    def update(self, block: ScoreBlock) -> None:
        self.add(block.site, total=(block.weights * torch.ones(block.weights.shape[-1])).sum((0, 2, 3)))


@pytest.mark.parametrize("planted", [Asking(), Mixing()], ids=lambda planted: planted.name)
def test_a_planted_fault_is_found(planted: Statistic, blocks: list[AttentionBlock]) -> None:
    with pytest.raises((RuntimeError, NotImplementedError), match="meta"):
        fed(planted, blocks)


def test_waits_are_counted() -> None:
    numbers = torch.arange(4.0)
    with HostWaits() as waits:
        numbers.sum().item()
        numbers.cpu().numpy()
        numbers[numbers > 1]
        bool(numbers.any())
        numbers * 2
    assert waits.total == 4


def test_a_shard_waits_once_a_batch_at_most() -> None:
    """Not once a block, nor once a statistic: a batch asks whether it has padding, and the sums come over in the end."""
    lens = lens_for("bert")
    few, more = waits_of(lens, 16), waits_of(lens, 32)
    batches = 16  # groups of one text each, 16 more of them
    assert few > 0
    assert more - few <= 3 * batches


def test_deeper_models_wait_no_more_often() -> None:
    """Texts of several lengths, so that batches have padding: that is asked for once a batch, not once a layer."""
    waits = []
    for layers in (2, 6):
        with headscope.open(tiny("bert", num_hidden_layers=layers), tiny_tokenizer("wordpiece")) as lens:
            waits.append(waits_of(lens, 256))
    shallow, deep = waits
    assert shallow > 20
    assert deep - shallow <= 4  # W_O of each layer, once
