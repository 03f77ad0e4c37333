"""What a page carries, decoded again, is the reading's numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import headscope
from headscope.lens import Lens, Reading
from headscope.views.content import Content
from headscope.views.from_arrays import content_of_arrays
from headscope.views.from_reading import content_of
from headscope.views.pack import pack
from tests.views import decoding

TEXT, PAIR = "The keys to the cabinet are unbelievably heavy.", "They are on the table."
MOST = 1 / 255 + 1e-5


@pytest.fixture(scope="module")
def lens(minilm: Path) -> Lens:
    return headscope.open(minilm)


@pytest.fixture(scope="module")
def reading(lens: Lens) -> Reading:
    return lens.read(TEXT, pair=PAIR)


def _decoded(content: Content, measure: str, exact: bool = False) -> np.ndarray:
    packed = pack(content, exact=exact)
    return np.stack([decoding.scores(one, packed.chunks, measure) for one in packed.description["attentions"]])


@pytest.mark.real
@pytest.mark.parametrize("measure", ["weight", "norm", "joint_norm", "effective"])
def test_scores_of_a_real_model_come_back_within_what_the_page_says(reading: Reading, measure: str) -> None:
    expected = reading.scores(measure).numpy()
    content = content_of(reading, ["weight", "norm", "joint_norm", "effective"])
    off = np.abs(_decoded(content, measure) - expected).max((2, 3)) / np.abs(expected).max((2, 3))
    assert off.max() <= MOST
    assert off.max() <= pack(content).description["error"] + 1e-6


@pytest.mark.real
@pytest.mark.parametrize("measure", ["weight", "norm", "joint_norm"])
def test_exact_scores_are_exact(reading: Reading, measure: str) -> None:
    content = content_of(reading)
    assert (_decoded(content, measure, exact=True) == reading.scores(measure).numpy()).all()
    assert pack(content, exact=True).description["error"] == 0


@pytest.mark.real
def test_norms_take_no_bytes_of_their_own(reading: Reading) -> None:
    attention = pack(content_of(reading)).description["attentions"][0]
    assert attention["scores"]["norm"] == {"form": "product", "of": "weight", "factor": attention["value_norm"]}


@pytest.mark.real
def test_neurons_come_back(reading: Reading) -> None:
    packed = pack(content_of(reading, ["weight"], neurons=True))
    found = reading.neurons(3)
    described = packed.description["attentions"][3]["neurons"]
    for name in ("queries", "keys"):
        expected = np.asarray(getattr(found, name))
        off = np.abs(decoding.vectors(described[name], packed.chunks) - expected).max((1, 2))
        assert (off <= np.abs(expected).max((1, 2)) / 255 * 1.001).all()
    assert described["exact"] is True
    assert described["scaling"] == pytest.approx(32**-0.5, rel=1e-3)


@pytest.mark.real
def test_some_heads_only(reading: Reading) -> None:
    content = content_of(reading, ["weight"], only={2: [5, 1], 4: [0]}, neurons=True)
    assert [(one.layer, one.heads) for one in content.attentions] == [(2, [1, 5]), (4, [0])]
    packed = pack(content, exact=True)
    first = decoding.scores(packed.description["attentions"][0], packed.chunks, "weight")
    assert (first == reading.scores("weight", layer=2)[[1, 5]].numpy()).all()
    assert content.attentions[0].neurons is not None
    assert (content.attentions[0].neurons.queries == np.asarray(reading.neurons(2).queries)[[1, 5]]).all()


def test_a_measure_that_equals_the_weight_is_not_carried_twice() -> None:
    scores = np.random.default_rng(0).random((2, 3, 4, 4), dtype=np.float32)
    packed = pack(content_of_arrays(list("abcd"), {"weight": scores, "effective": scores}))
    assert packed.description["attentions"][0]["scores"]["effective"] == {"form": "same", "of": "weight"}


def test_norms_that_are_not_products_get_their_own_bytes() -> None:
    random = np.random.default_rng(0)
    scores = {name: random.random((1, 2, 3, 3), dtype=np.float32) for name in ("weight", "norm")}
    content = content_of_arrays(list("abc"), scores)
    for name, array in scores.items():
        assert np.abs(_decoded(content, name) - array).max() <= 1 / 255


@pytest.mark.parametrize(
    ("scores", "words"),
    [
        (np.zeros((1, 1, 1, 1, 3, 3)), "dimensions"),
        (np.zeros((3, 2)), "shape"),
        (np.full((3, 3), np.nan), "finite"),
        ({}, "no scores"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(scores: object, words: str) -> None:
    with pytest.raises(headscope.HeadscopeError, match=words):
        content_of_arrays(list("abc"), scores)
