"""A difference on paper: the numbers are B less A, after what is hidden; who is who and what the colours mean is said."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_hex

from headscope.colours import BLUE, INK, VERMILION
from headscope.views.content import Content
from headscope.views.difference import difference_of
from headscope.views.print import draw, figure_bytes
from headscope.views.print.shown import attention_of, shown
from headscope.views.state import State
from tests.views.print.test_drawing import texts
from tests.views.test_difference import content
from tests.views.test_joint_side import side


@pytest.fixture(scope="module")
def both() -> Content:
    """`cats` for `cat`, and `old` put in, between two special tokens."""
    one = content(side([["[CLS]"], ["the"], ["cat", "##s"], ["sat"], ["[SEP]"]]), 1)
    other = content(side([["[CLS]"], ["the"], ["old"], ["cat"], ["sat"], ["[SEP]"]]), 2)
    return difference_of(one, other)


def numbers(found: Content, **choices: object) -> tuple[np.ndarray, list[str]]:
    state = State(**choices).fitted(found)  # type: ignore[arg-type]
    drawn = shown(found, state, attention_of(found, state))
    return np.where(drawn.drawn, drawn.scores, 0), drawn.queries.labels


@pytest.mark.parametrize("level", ["token", "word"])
def test_the_difference_is_that_of_both_alone(both: Content, level: str) -> None:
    a, labels = numbers(both, of="a", level=level)
    b, _ = numbers(both, of="b", level=level)
    found, joint = numbers(both, level=level)
    empty = [place for place, label in enumerate(joint) if label in ("old", "##s", "cats", "cat") and "/" not in label]
    rows = [place for place in range(len(joint)) if place not in empty]
    assert np.allclose(found[:, rows], (b - a)[:, rows], atol=1e-6)
    assert len(labels) == len(joint)
    if level == "token":
        assert not found[:, joint.index("old")].any()
        assert np.allclose(found[..., joint.index("old")][:, rows], b[..., joint.index("old")][:, rows])


def test_the_largest_differences_are_drawn(both: Content) -> None:
    whole, _ = numbers(both)
    few, _ = numbers(both, top=1)
    assert (np.count_nonzero(few, -1) <= 1).all()
    assert np.allclose(np.abs(few).max(-1), np.abs(whole).max(-1))


def test_a_head_is_drawn_by_signs_and_tokens_by_what_became_of_them(both: Content) -> None:
    figure = draw(both, State(view="head", layer=1, heads=(2,)))
    (lines,) = figure.axes[0].collections
    assert {to_hex(colour[:3]).upper() for colour in lines.get_colors()} == {BLUE, VERMILION}
    inks = {text.get_text(): str(text.get_color()) for text in figure.axes[0].texts}
    assert (inks["old"], inks["##s"], inks["the"]) == (BLUE, VERMILION, INK)
    assert "Layer 1 · weight B − A" in inks


def test_the_matrix_has_both_on_one_scale_and_their_difference(both: Content) -> None:
    figure = draw(both, State(view="matrix", layer=0, heads=(1,)))
    a, b, apart = (image for image in figure.axes[0].images if (image.get_gid() or "").startswith("map"))
    assert a.get_clim() == b.get_clim() == (0, max(np.max(a.get_array()), np.max(b.get_array())))
    assert -apart.get_clim()[0] == apart.get_clim()[1] == np.abs(np.asarray(apart.get_array())).max()
    written = texts(figure_bytes(figure, "svg"))
    assert {"head 0.1, weight A", "head 0.1, weight B", "head 0.1, weight B − A"} <= set(written)
    assert "Blue is more in B than in A, orange less." in " ".join(written)


def test_one_of_the_two_alone_in_its_own_words(both: Content) -> None:
    figure = draw(both, State(view="matrix", layer=0, heads=(1,), of="b", level="word"))
    assert len([image for image in figure.axes[0].images if (image.get_gid() or "").startswith("map")]) == 1
    written = [text.get_text() for text in figure.axes[0].texts]
    assert "head 0.1, weight B" in written


def test_heads_by_change(both: Content) -> None:
    figure = draw(both, State(view="model", sort="change"))
    values = sorted(both.statistics[0].values.items(), key=lambda entry: -entry[1])
    labels = [
        text.get_text().split()[0] for text in figure.axes[0].texts if "." in text.get_text() and "  " in text.get_text()
    ]
    assert labels == [name.split()[-1] for name, _ in values]
