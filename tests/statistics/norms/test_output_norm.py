"""What a head adds, against vectors of the model's own size, made by a hand-written model and centred with them at hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from headscope.lens.head import Head
from headscope.statistics import OutputNorm
from tests.lens.language_models import documents, lens_for
from tests.lens.textbook_forward import FORWARD
from tests.statistics.tester import SITE, block_by_hand, columns_by_hand

W_O = {
    "bert": lambda model, layer: model.bert.encoder.layer[layer].attention.output.dense.weight.T,
    "gpt2": lambda model, layer: model.transformer.h[layer].attn.c_proj.weight,
    "llama": lambda model, layer: model.model.layers[layer].self_attn.o_proj.weight.T,
}


@pytest.mark.parametrize("family", W_O)
def test_it_is_that_of_whole_vectors(family: str) -> None:
    lens, some = lens_for(family), documents(family)
    read: dict[int, list[torch.Tensor]] = {}
    streams: dict[int, list[torch.Tensor]] = {}
    for document in some:
        inputs = lens.encoder.batch([document]).inputs

        def look(stack: str, kind: str, layer: int, z: torch.Tensor) -> torch.Tensor:
            read.setdefault(layer, []).append(z[0].double())
            return z

        with torch.no_grad(), lens.unwatched():
            FORWARD[family](lens.model.bert if family == "bert" else lens.model, inputs, look)
            states = lens.model(**inputs, output_hidden_states=True).hidden_states
        for layer in range(len(states) - 1):
            streams.setdefault(layer, []).append(states[layer][0].double())
    counted = OutputNorm().start(lens.sites)
    lens.run(lens.encoder.batch(some), counted.update, rows=3)
    for row in counted.table().to_dict("records"):
        head = Head.of(row)
        z, stream = torch.cat(read[head.layer])[:, head.head], torch.cat(streams[head.layer])
        size = z.shape[-1]
        matrix = W_O[family](lens.model, head.layer).double()[size * head.head : size * (head.head + 1)]
        with torch.no_grad():
            y, around = z @ matrix, stream.norm(dim=-1)
            apart = (y - y.mean(0)).norm(dim=-1)
        assert row["read"] == pytest.approx(float(z.norm(dim=-1).mean()), rel=1e-4)
        assert row["output"] == pytest.approx(float(y.norm(dim=-1).mean()), rel=1e-4)
        assert row["relative"] == pytest.approx(float((y.norm(dim=-1) / around).mean()), rel=1e-4)
        assert row["centred"] == pytest.approx(float(apart.square().mean().sqrt()), rel=1e-3)
        assert row["centred_relative"] == pytest.approx(float((apart / around).square().mean().sqrt()), rel=1e-3)


def test_vectors_that_cancel_add_nothing() -> None:
    """By hand: f(x) is 1 and -1; a row that mixes them alike adds 0, where norms would sum to 1. The mean is 1 / 3."""
    site = replace(SITE, projection="W_O")
    block = block_by_hand([[1.0, 0.0], [0.5, 0.5], [0.5, 0.5]], ["a", "b"], norms=[1.0, -1.0], site=site)
    found = columns_by_hand(OutputNorm(), block)
    assert found["output"] == found["read"] == pytest.approx(1 / 3)
    assert found["centred"] == pytest.approx(np.std([1, 0, 0]))
    assert np.isnan([found["relative"], found["centred_relative"]]).all(), "nothing is known of the residual stream"


def test_without_w_o_there_is_nothing() -> None:
    found = columns_by_hand(OutputNorm(), block_by_hand([[1.0, 0.0], [0.5, 0.5]], ["a", "b"]))
    assert all(np.isnan(value) for value in found.values())
