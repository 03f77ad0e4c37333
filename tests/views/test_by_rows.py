"""Heads that are read by rows are what a whole reading has; and little more than they are is held in memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from benchmarks.view_memory import view_memory

import headscope
from headscope.errors import InputError
from headscope.lens import Lens
from headscope.lens.sinks import Parking, parked_on
from headscope.lens.watching import capture
from headscope.text import Document
from headscope.views import view_of
from headscope.views.by_rows import content_of_heads, read_heads
from headscope.views.from_reading import content_of
from tests.tiny import tiny
from tests.tiny_tokenizers import tiny_tokenizer

TEXT = "the cat sat on the mat , two dogs sat on the mat ."
ALL = ["weight", "norm", "joint_norm", "joint_weight", "effective", "block_norm"]


@pytest.fixture(params=["bert", "gpt2", "llama", "marian"])
def lens(request: pytest.FixtureRequest) -> Iterator[Lens]:
    torch.manual_seed(0)
    kind = {"bert": "wordpiece", "marian": "unigram"}.get(request.param, "bpe")
    with headscope.open(tiny(request.param), tiny_tokenizer(kind)) as opened:
        yield opened


@pytest.fixture(params=[None, 60], ids=["at once", "a few rows at a time"])
def cut(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param is not None:
        monkeypatch.setattr(capture, "BLOCK", request.param)
        monkeypatch.setattr(capture, "CUT", request.param)
        monkeypatch.setattr(capture, "ROWS", 1)


@pytest.mark.usefixtures("cut")
def test_it_is_what_a_reading_has(lens: Lens) -> None:
    document = Document(TEXT, target="the cat sat" if lens.is_encoder_decoder else None)
    only = {1: [1], 0: [0, 2]}
    reading = lens.read(document, layers=list(only))
    whole = content_of(reading, ALL, neurons=True, only=only)
    rows = content_of_heads(lens, reading.batch, only, ALL, neurons=True)
    assert (rows.title, rows.sides, rows.sinks, rows.model) == (whole.title, whole.sides, whole.sinks, whole.model)
    assert [(one.group, one.layer, one.heads) for one in rows.attentions] == [
        (one.group, one.layer, one.heads) for one in whole.attentions
    ]
    for ours, theirs in zip(rows.attentions, whole.attentions, strict=True):
        assert list(ours.scores) == list(theirs.scores)
        for name, scores in theirs.scores.items():
            np.testing.assert_allclose(ours.scores[name], scores, rtol=1e-4, atol=1e-5, err_msg=name)
        np.testing.assert_allclose(ours.value_norm, theirs.value_norm, rtol=1e-4)
        assert ours.parked == theirs.parked
        assert ours.neurons is not None
        assert theirs.neurons is not None
        np.testing.assert_allclose(ours.neurons.queries, theirs.neurons.queries, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(ours.neurons.keys, theirs.neurons.keys, rtol=1e-4, atol=1e-5)
        assert ours.neurons.scaling == pytest.approx(theirs.neurons.scaling, rel=1e-4)
        assert (ours.neurons.exact, ours.neurons.why) == (theirs.neurons.exact, theirs.neurons.why)
    for group, telling in rows.telling.items():
        kept = [one for one in whole.telling[group] if one.head in only[one.layer]]
        assert [one[:3] for one in telling][: len(kept)] == [one[:3] for one in kept], "the same heads, in the same order"
        assert all(one.head in only[one.layer] for one in telling)


def test_rows_that_come_one_after_another_park_as_all_at_once() -> None:
    generator = torch.Generator().manual_seed(3)
    weights = (torch.randn(5, 40, 40, generator=generator) * 2).softmax(-1)
    weights[:3, :, 7] += 0.6
    known = torch.arange(40) == 0
    parking = Parking(5, known, within=True)
    for start in range(0, 40, 9):
        parking.add(weights[:, start : start + 9], start)
    assert parked_on(weights, known, within=True).nonzero().flatten().tolist() == [7]
    assert torch.equal(parking.most(), parked_on(weights, known, within=True))


def test_a_view_opens_with_what_was_asked_for(lens: Lens) -> None:
    if lens.is_encoder_decoder:
        pytest.skip("needs a target, which the test above gives")
    content = read_heads("matrix", lens, Document(TEXT), {1: [1]}, ["block_norm"])
    assert content.measures == ["weight", "norm", "joint_norm", "effective", "block_norm"]
    assert view_of("matrix", content, measure="block_norm", level="word").state.measure == "block_norm"


def test_two_texts_by_rows_differ_as_two_readings_do(lens: Lens) -> None:
    if lens.is_encoder_decoder:
        pytest.skip("one kind of model is enough")
    texts = [Document(TEXT), Document(TEXT.replace("cat", "dog"))]
    of_rows = view_of("model", *(read_heads("", lens, one, {1: [1]}) for one in texts[:1]),
                      against=read_heads("", lens, texts[1], {1: [1]}))  # fmt: skip
    whole = view_of("model", lens.read(texts[0]), against=lens.read(texts[1]), only={1: [1]})
    assert of_rows.content.statistics[0].values == pytest.approx(whole.content.statistics[0].values, rel=1e-5)


def test_a_measure_that_cannot_be_had_is_said() -> None:
    lens = headscope.open(tiny("bert"), tiny_tokenizer("wordpiece"))
    with pytest.raises(InputError, match="There is no measure 'length'"):
        read_heads("head", lens, Document(TEXT), {1: [1]}, ["length"])


def test_memory_of_one_head_does_not_grow_with_the_number_of_heads(tmp_path: Path) -> None:
    """All weights of a layer are 64 MB here; a reading holds them, and what it makes of them, several times (109 MB in all).

    How much of that a process asks for anew depends on what it has freed before, so the whole is not measured beside.
    """
    assert view_memory(1024, 16, tmp_path / "view.html", rows=True).increase < 80
