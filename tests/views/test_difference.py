"""The difference of two contents: number by number, its laws, what only one of two has, and how large its page is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import headscope
from headscope.errors import InputError
from headscope.views.content import Attention, Content, Side
from headscope.views.difference import difference_of
from headscope.views.from_reading import content_of
from headscope.views.joint_maps import apart, on_axes
from headscope.views.merging import merge_pieces
from headscope.views.pack import pack
from tests.tiny import tiny
from tests.tiny_tokenizers import tiny_tokenizer
from tests.views import decoding
from tests.views.test_joint_side import side

WORDS = st.lists(st.sampled_from([["a"], ["b"], ["b", "##s"], ["c", "##s"], ["[SEP]"]]), min_size=1, max_size=6)


def content(tokens: Side, seed: int = 0, layers: int = 2, heads: int = 3, model: str = "m", **options: str) -> Content:
    random = np.random.default_rng(seed)
    named = {"stack": "encoder", "kind": "self", **options}
    attentions = []
    for layer in range(layers):
        weights = random.dirichlet(np.ones(len(tokens)), size=(heads, len(tokens))).astype(np.float32)
        norms = random.uniform(0.5, 4, size=(heads, len(tokens))).astype(np.float32)
        joint = (weights * norms[:, None]).sum(0, keepdims=True)
        scores = {"weight": weights, "norm": weights * norms[:, None], "joint_norm": joint}
        attentions.append(
            Attention(named["stack"], named["kind"], layer, list(range(heads)), "source", "source", scores, norms)
        )
    return Content("title", {"source": tokens}, attentions, model=model)


@settings(max_examples=30, deadline=None)
@given(WORDS, WORDS)
def test_every_number_against_a_loop(first: list[list[str]], second: list[list[str]]) -> None:
    a, b = content(side(first), 1), content(side(second), 2)
    found = difference_of(a, b)
    joint = found.sides["source"].joint
    assert joint is not None
    places = list(zip(joint.a.places, joint.b.places, strict=True))
    for layer, attention in enumerate(found.attentions):
        for measure, scores in attention.scores.items():
            ones, others = a.attentions[layer].scores[measure], b.attentions[layer].scores[measure]
            for row, (i, k) in enumerate(places):
                for column, (j, m) in enumerate(places):
                    for head in range(len(scores)):
                        one = 0 if i is None or j is None else ones[head, i, j]
                        other = 0 if k is None or m is None else others[head, k, m]
                        expected = 0 if i is None or k is None else other - one
                        assert scores[head, row, column] == pytest.approx(expected, abs=1e-6)


@settings(max_examples=30, deadline=None)
@given(WORDS, WORDS)
def test_words_are_those_of_each_text(first: list[list[str]], second: list[list[str]]) -> None:
    a, b = content(side(first), 1), content(side(second), 2)
    both = difference_of(a, b).sides["source"]
    assert both.joint is not None
    for end, one, origin in (("a", a, both.joint.a), ("b", b, both.joint.b)):
        own = one.sides["source"]
        merged = merge_pieces(one.attentions[0].scores["weight"], own.word_of, own.word_of)
        placed = on_axes(one.attentions[0].scores["weight"], both, both, end, "word")  # type: ignore[arg-type]
        here = [number for number, word in enumerate(origin.words) if word]
        assert np.allclose(placed[:, here][..., here], merged, atol=1e-6)
        assert placed.sum() == pytest.approx(merged.sum(), rel=1e-5)


@settings(max_examples=30, deadline=None)
@given(WORDS)
def test_a_content_and_itself(words: list[list[str]]) -> None:
    one = content(side(words))
    found = difference_of(one, one)
    assert not any(scores.any() for attention in found.attentions for scores in attention.scores.values())
    assert set(found.sides["source"].joint.tokens) == {""}  # type: ignore[union-attr]
    assert all(value == 0 for statistic in found.statistics for value in statistic.values.values())


@settings(max_examples=30, deadline=None)
@given(WORDS, WORDS)
def test_exchanging_the_two_turns_every_sign(first: list[list[str]], second: list[list[str]]) -> None:
    a, b = content(side(first), 1), content(side(second), 2)
    found, turned = difference_of(a, b), difference_of(b, a)
    one, other = found.sides["source"].joint, turned.sides["source"].joint
    assert one is not None
    assert other is not None
    there = {pair: spot for spot, pair in enumerate(zip(other.b.places, other.a.places, strict=True))}
    spots = [there[pair] for pair in zip(one.a.places, one.b.places, strict=True)]
    for mine, theirs in zip(found.attentions, turned.attentions, strict=True):
        assert np.allclose(mine.scores["weight"], -theirs.scores["weight"][:, spots][..., spots], atol=1e-6)
    assert [one.values for one in found.statistics] == [pytest.approx(one.values, abs=1e-6) for one in turned.statistics]


def test_what_only_one_text_has_gets_a_difference_and_gives_none() -> None:
    a, b = content(side([["a"], ["b"]]), 1), content(side([["a"], ["c"], ["d"], ["b"]]), 2)
    found = difference_of(a, b)
    assert found.title == "a {+ c} {+ d} b"
    scores = found.attentions[0].scores["weight"]
    assert not scores[:, 1:3].any()
    assert np.allclose(scores[:, 0, 1:3], b.attentions[0].scores["weight"][:, 0, 1:3])


def test_heads_are_compared_by_name_and_what_one_has_alone_is_said() -> None:
    words = side([["a"], ["b", "##s"], ["c"]])
    large, small = content(words, 1, layers=4, heads=4, model="large"), content(words, 2, layers=2, heads=3, model="small")
    found = difference_of(small, large)
    assert [(attention.layer, attention.heads) for attention in found.attentions] == [(0, [0, 1, 2]), (1, [0, 1, 2])]
    assert found.compared is not None
    assert found.compared.notes == [
        "Only B has heads 0.3, 1.3 and layers 2, 3 (encoder self): they are not compared.",
        "Heads of two models are compared by their names: that tells of models of which one was made from the other.",
    ]
    expected = large.attentions[1].scores["weight"][:3] - small.attentions[1].scores["weight"]
    assert np.allclose(found.attentions[1].scores["weight"], expected)
    assert found.model == "small and large"
    assert found.title == "a bs c"  # one text


def test_nothing_in_common_is_one_sentence() -> None:
    words = side([["a"], ["b"]])
    with pytest.raises(InputError, match=r"nothing to compare: no head of the one \(encoder self\) is .* \(decoder self\)"):
        difference_of(content(words), content(words, stack="decoder"))


def test_measures_that_both_have() -> None:
    words = side([["a"], ["b"]])
    one, other = content(words, 1), content(words, 2)
    poor = replace(other, attentions=[replace(each, scores={"weight": each.scores["weight"]}) for each in other.attentions])
    found = difference_of(one, poor)
    assert found.measures == ["weight"]
    assert found.compared is not None
    assert found.compared.notes == ["Only A has the measure norm.", "Only A has the measure joint_norm."]


@pytest.mark.parametrize("exact", [False, True])
def test_a_page_carries_both_and_is_no_larger_than_two(exact: bool) -> None:
    a, b = content(side([["a"], ["b"], ["c", "##s"]] * 9), 1), content(side([["a"], ["c"], ["b", "##s"]] * 8), 2)
    packed = pack(difference_of(a, b), exact=exact)
    alone = [pack(one, exact=exact) for one in (a, b)]
    assert sum(map(len, packed.chunks)) == sum(len(chunk) for one in alone for chunk in one.chunks)
    for layer, attention in enumerate(packed.description["attentions"]):
        assert {name: one["form"] for name, one in attention["scores"].items()} == dict.fromkeys(a.measures, "difference")
        for part, one in zip(attention["parts"] or [], (a, b), strict=True):
            for measure, scores in one.attentions[layer].scores.items():
                shown = decoding.scores(dict(part), packed.chunks, measure)
                most = np.abs(scores).max((1, 2), keepdims=True)
                assert (np.abs(shown - scores) / most).max() <= packed.description["error"] + 1e-6
    assert packed.description["compared"] is not None
    assert packed.description["compared"]["a"] == {"title": "title", "model": "m"}


def test_two_readings_of_one_model() -> None:
    with headscope.open(tiny("bert"), tiny_tokenizer("wordpiece"), name="bert") as lens:
        one, other = lens.read("the cats sat"), lens.read("the dogs sat here")
    found = difference_of(content_of(one), content_of(other))
    side_of_both = found.sides["source"]
    assert side_of_both.joint is not None
    row = side_of_both.joint.a.tokens.index("sat")
    place, there = side_of_both.joint.a.places[row], side_of_both.joint.b.places[row]
    assert place is not None
    assert there is not None
    assert found.attentions[1].scores["weight"][0, row, row] == pytest.approx(
        float(other.scores("weight")[1, 0, there, there] - one.scores("weight")[1, 0, place, place]), abs=1e-6
    )
    assert (
        apart(np.ones((1, len(side_of_both), 1)), np.zeros((1, len(side_of_both), 1)), side_of_both.joint, "token").min()
        == -1
    )
