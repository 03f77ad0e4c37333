"""Views made of lines: each is as dark as its score, from and to the right tokens, in its head's colour."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from headscope.colours import HEADS, head_colour
from headscope.errors import InputError
from headscope.views.content import HeadStatistic
from headscope.views.from_arrays import content_of_arrays
from headscope.views.print import attention_map, draw
from headscope.views.print.columns import FAINTEST
from headscope.views.print.shown import attention_of, shown
from headscope.views.state import State
from tests.views.print.contents import TOKENS, plain_content, random_content

CONTENT = random_content()


def lines_of(figure: Figure, gid: str | None = None) -> list[LineCollection]:
    found = [one for one in figure.axes[0].collections if isinstance(one, LineCollection)]
    return [one for one in found if gid is None or one.get_gid() == gid]


def height_of(figure: Figure, label: str, side: int) -> float:
    """Where a label of the left or right column stands."""
    places = sorted((text.get_position() for text in figure.axes[0].texts if text.get_text() == label), key=lambda at: at[0])
    return places[0 if side == 0 else -1][1]


def drawn_scores(figure: Figure, lines: LineCollection, queries: list[str], keys: list[str]) -> np.ndarray:
    """(query, key): the opacity of each line, found by where it begins and ends."""
    opacities = np.zeros((len(queries), len(keys)))
    rows = {round(height_of(figure, label, 0), 4): place for place, label in enumerate(queries)}
    columns = {round(height_of(figure, label, 1), 4): place for place, label in enumerate(keys)}
    for (start, stop), colour in zip(lines.get_segments(), lines.get_colors(), strict=True):
        assert start[0] < stop[0]
        opacities[rows[round(start[1], 4)], columns[round(stop[1], 4)]] = colour[3]
    return opacities


UNIQUE = ["a", "b", "c", "d", "e"]


def test_opacities_are_the_scores() -> None:
    content = plain_content(UNIQUE)
    figure = draw(content, State(layer=1, heads=(2,)))
    (lines,) = lines_of(figure)
    weights = content.attentions[1].scores["weight"][2]
    expected = np.where(weights / weights.max() >= FAINTEST, weights / weights.max(), 0)
    np.testing.assert_allclose(drawn_scores(figure, lines, UNIQUE, UNIQUE), expected, atol=1e-6)
    widths, opacities = np.array(lines.get_linewidths()), np.array(lines.get_colors())[:, 3]
    assert (np.diff(opacities) >= 0).all(), "the strongest come last"
    assert np.corrcoef(widths, opacities)[0, 1] == pytest.approx(1)


def test_top_and_threshold_and_kept() -> None:
    content = plain_content(UNIQUE)
    weights = content.attentions[0].scores["weight"][0]
    figure = draw(content, State(heads=(0,), top=2))
    drawn = drawn_scores(figure, lines_of(figure)[0], UNIQUE, UNIQUE)
    assert ((drawn > 0).sum(-1) == 2).all()
    assert [set(np.flatnonzero(row)) for row in drawn] == [set(np.argsort(-row)[:2].tolist()) for row in weights]
    figure = draw(content, State(heads=(0,), least=0.5))
    drawn = drawn_scores(figure, lines_of(figure)[0], UNIQUE, UNIQUE)
    np.testing.assert_array_equal(drawn > 0, weights >= 0.5 * weights.max())
    figure = draw(content, State(heads=(0,), keep=("q1",)))
    drawn = drawn_scores(figure, lines_of(figure)[0], UNIQUE, UNIQUE)
    np.testing.assert_allclose(drawn[1], weights[1] / weights[1].max(), atol=1e-6)
    assert not np.delete(drawn, 1, 0).any()


def test_heads_have_their_own_colours() -> None:
    figure = draw(CONTENT, State(heads=(0, 2), keep=("q1",)))
    (lines,) = lines_of(figure)
    used = {tuple(np.round(colour[:3], 6)) for colour in lines.get_colors()}
    assert used == {tuple(np.round(to_rgb(head_colour(place)), 6)) for place in (0, 2)}
    assert {text.get_text() for text in figure.axes[0].texts} >= {"0.0", "0.2"}
    assert len({head_colour(place) for place in range(len(HEADS))}) == len(HEADS)


def test_lines_of_signed_measures_are_dotted_below_zero() -> None:
    figure = draw(CONTENT, State(measure="effective", heads=(0,)))
    (lines,) = lines_of(figure)
    dotted = sum(style[1] is not None for style in lines.get_linestyles())
    scores = CONTENT.attentions[0].scores["effective"][0]
    assert dotted == (scores[np.abs(scores) / np.abs(scores).max() >= FAINTEST] < 0).sum() > 0


def test_hidden_share_is_written() -> None:
    figure = draw(CONTENT, State(sinks="hidden"))
    state = State(sinks="hidden").fitted(CONTENT)
    share = shown(CONTENT, state, attention_of(CONTENT, state)).hidden
    written = " ".join(text.get_text() for text in figure.axes[0].texts)
    assert f"{100 * share:.0f}% of the weight is on special tokens, not shown." in written


def test_model_view_draws_each_head_by_its_own_largest() -> None:
    figure = draw(CONTENT, State(view="model"))
    cells = lines_of(figure)
    assert len(cells) == 6
    for cell, (layer, head) in zip(cells, [(layer, head) for layer in range(2) for head in range(3)], strict=True):
        weights = CONTENT.attentions[layer].scores["weight"][head]
        parts = np.sort((weights / weights.max()).ravel())
        np.testing.assert_allclose(np.sort(np.array(cell.get_colors())[:, 3]), parts[parts >= FAINTEST], atol=1e-6)
    assert len(lines_of(draw(CONTENT, State(view="model", measure="joint_norm")))) == 2


def test_model_view_by_a_statistic() -> None:
    values = {"encoder self 0.1": 0.25, "encoder self 1.2": 0.75, "encoder self 0.0": 0.5}
    content = replace(CONTENT, statistics=[HeadStatistic("entropy.entropy", "entropy", "", values)])
    figure = draw(content, State(view="model", sort="entropy.entropy"))
    labels = [text for text in figure.axes[0].texts if text.get_text().endswith(("0.25", "0.5", "0.75"))]
    ordered = [text.get_text() for text in sorted(labels, key=lambda text: text.get_position()[0])]
    assert ordered == ["1.2  0.75", "0.0  0.5", "0.1  0.25"]
    with pytest.raises(InputError, match=r"There is no statistic 'x' to sort heads by: there are entropy\.entropy"):
        draw(content, State(view="model", sort="x"))
    figure = draw(content, State(view="model", sort="entropy.entropy", above=0.5))
    written = [text.get_text() for text in figure.axes[0].texts]
    assert "1.2  0.75" in written
    assert "0.0  0.5" in written
    assert "0.1  0.25" not in written
    with pytest.raises(InputError, match=r"No head has entropy\.entropy of at least 2"):
        draw(content, State(view="model", sort="entropy.entropy", above=2))


@pytest.mark.parametrize("sort", ["", "entropy.entropy"])
def test_all_heads_together_are_never_named_as_one_of_them(sort: str) -> None:
    statistics = [HeadStatistic("entropy.entropy", "entropy", "", {"encoder self 0.7": 0.5})]
    content = replace(random_content(heads=[7]), statistics=statistics)
    figure = draw(content, State(view="model", measure="joint_norm", sort=sort))
    written = [text.get_text() for text in figure.axes[0].texts]
    assert "Joint norm of all heads together · layers down" in written
    assert "all heads" in written
    assert "7" not in written


def test_attention_map_colours_the_given_words() -> None:
    content = content_of_arrays(UNIQUE, random_content().attentions[0].scores["weight"][:, :5, :5])
    weights = content.attentions[0].scores["weight"][1]
    for direction, marked in (("from", np.arange(5)[:, None] == 3), ("to", np.arange(5) == 3)):
        figure = attention_map(content, 0, 1, words=["d"], direction=direction)
        coloured = drawn_scores(figure, lines_of(figure, "marked")[0], UNIQUE, UNIQUE)
        others = drawn_scores(figure, lines_of(figure, "others")[0], UNIQUE, UNIQUE)
        np.testing.assert_allclose(coloured, np.where(marked, weights / weights.max(), 0), atol=1e-6)
        np.testing.assert_allclose(others, np.where(marked, 0, weights / weights.max()), atol=1e-6)
        bold = [text.get_text() for text in figure.axes[0].texts if text.get_weight() == "bold"]
        assert bold.count("d") == 1
    both = attention_map(content, 0, 1, words=[3], direction="both")
    assert len(lines_of(both, "marked")[0].get_segments()) == 9


def test_attention_map_in_words_and_what_is_not_there() -> None:
    figure = attention_map(CONTENT, 0, 1, words=["unreal"], without_sinks=True)
    labels = [text.get_text() for text in figure.axes[0].texts]
    assert labels.count("unreal") == 2
    assert "[CLS]" not in labels
    assert any("special tokens, not shown" in label for label in labels)
    assert TOKENS[2] not in labels
    with pytest.raises(InputError, match="There is no word 'dog' to draw attention from"):
        attention_map(CONTENT, 0, 1, words=["dog"])
    with pytest.raises(InputError, match="Attention goes from, to, both"):
        attention_map(CONTENT, 0, 1, direction="sideways")


def test_cross_attention_between_texts_of_other_lengths() -> None:
    scores = np.random.default_rng(0).dirichlet(np.ones(5), size=(2, 3, 3)).astype(np.float32)  # layer head query key
    queries = ["x", "y", "z"]
    content = content_of_arrays(queries, scores, key_tokens=UNIQUE)
    figure = draw(content, State(layer=1, heads=(2,)))
    expected = scores[1, 2] / scores[1, 2].max()
    drawn = drawn_scores(figure, lines_of(figure)[0], queries, UNIQUE)
    np.testing.assert_allclose(drawn, np.where(expected >= FAINTEST, expected, 0), atol=1e-6)
    (image, _) = draw(content, State(view="matrix", layer=1, heads=(2,))).axes[0].images
    np.testing.assert_array_equal(np.asarray(image.get_array()), scores[1, 2])
