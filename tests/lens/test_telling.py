"""Which heads say most about a text: against loops, by hand, and on a real model."""

from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import headscope
from headscope.lens.telling import LITTLE, REPEATED, ROLES, TWICE, Telling, opening, places_of, ranked, telling_in
from headscope.views.from_arrays import content_of_arrays
from headscope.views.from_reading import content_of


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=9), st.booleans())
def test_places_are_what_their_names_say(tokens: list[str], causal: bool) -> None:
    found = places_of(tokens, [False] * len(tokens), causal)
    count = len(tokens)
    for query in range(count):
        copies = [
            key for key in range(count) if key != query and tokens[key] == tokens[query] and (key < query or not causal)
        ]
        right = {
            "induction": {key + 1 for key in copies if key + 1 < count and key + 1 != query},
            "duplicate token": set(copies),
            "previous token": {query - 1} & set(range(count)),
            "next token": {query + 1} & set(range(count)),
            "same token": {query},
        }
        assert {role: set(place[query].nonzero()[:, 0].tolist()) for role, place in found.items()} == right


def test_special_tokens_are_no_copies() -> None:
    found = places_of(["[SEP]", "a", "[SEP]"], [True, False, True], causal=False)
    assert not found["duplicate token"].any()
    assert not found["induction"].any()


@given(st.integers(0, 10_000), st.booleans())
def test_against_loops(seed: int, causal: bool) -> None:
    generator = np.random.default_rng(seed)
    count, tokens = 8, generator.choice(list("abcd"), 8).tolist()
    logits = torch.from_numpy(generator.normal(size=(3, count, count)) * 3).float()
    if causal:
        logits = logits.masked_fill(torch.ones(count, count).triu(1).bool(), -torch.inf)
    weights = logits.softmax(-1)
    nowhere = torch.zeros(count, dtype=torch.bool)
    special = [False] * count
    found = telling_in(4, weights, special, special, causal, tokens, nowhere)
    places = places_of(tokens, special, causal)
    for head, one in enumerate(found):
        assert (one.layer, one.head) == (4, head)
        sinks = {0} if causal else set()
        rows = [
            q
            for q in range(1 if causal else 0, count)
            if sum(float(weights[head, q, k]) > 0 for k in range(count) if k not in sinks) > 1
        ]
        beyond = {(q, k): float(weights[head, q, k]) for q in rows for k in range(count) if k not in sinks}
        focus = np.mean([max(beyond[q, k] for k in range(count) if k not in sinks) for q in rows])
        assert one.focus == pytest.approx(focus, abs=1e-4)
        assert (
            one.weight
            == pytest.approx(max(beyond.values()), abs=1e-4)
            == pytest.approx(beyond[one.query, one.key], abs=1e-4)
        )
        shares = {}
        for role, place in places.items():
            with_place = [q for q in rows if bool(place[q].any())]
            of = with_place if role in ROLES[:2] else rows
            if role in ROLES[:2] and len(with_place) < REPEATED:
                continue
            total = sum(beyond[q, k] for q in of for k in range(count) if k not in sinks)
            shares[role] = sum(score for (q, k), score in beyond.items() if q in of and place[q, k]) / total if total else 0
            if role in ROLES[:2] and shares[role] < TWICE * by_others(beyond, place, of):
                del shares[role]
        named = next((role for role in ROLES if shares.get(role, 0) > 0.5), "")
        left = sum(beyond.values()) / sum(float(weights[head, q].sum()) for q in rows)
        assert one.role == (named if left >= LITTLE else "")
        if one.role:
            assert one.share == pytest.approx(shares[named], abs=1e-4)


def by_others(beyond: dict[tuple[int, int], float], place: torch.Tensor, of: list[int]) -> float:
    """What the places of some rows would get, if each of their keys had what rows give to it whose place it is not."""
    sums: dict[int, float] = {}
    for (q, _), score in beyond.items():
        sums[q] = sums.get(q, 0) + score
    usual = {}
    for key in {k for _, k in beyond}:
        others = [score / sums[q] for (q, k), score in beyond.items() if k == key and score > 0 and not place[q, k]]
        usual[key] = sum(others) / len(others) if others else 0
    expected = sum(sums[q] * sum(usual[k] for k in usual if place[q, k]) for q in of)
    return expected / sum(sums[q] for q in of)


def test_a_head_that_everyone_looks_with_at_one_word_is_no_induction_head() -> None:
    tokens = ["the", "cat", "saw", "the", "dog", "near", "the", "door", "and", "left", "the", "cat"]
    count = len(tokens)
    none, nowhere = [False] * count, torch.zeros(count, dtype=torch.bool)
    at_one = torch.full((1, count, count), 0.02).tril()
    at_one[0, 1:, 1] = 1  # all look at the first cat, also those whose token is "the", which it follows
    at_one /= at_one.sum(-1, keepdim=True)
    induction = places_of(tokens, none, causal=True)["induction"]
    assert float(at_one[0, [3, 6, 10]].mul(induction[[3, 6, 10]]).sum(1).min()) > 0.8
    assert telling_in(0, at_one, none, none, True, tokens, nowhere)[0].role == ""
    asked = at_one.clone()  # the same where it should look there, and else where it should
    asked[0, 11, [1, 2]] = asked[0, 11, [2, 1]]
    without = ~induction.any(1)
    asked[0, without] = torch.ones(count, count).tril().div(torch.arange(1, count + 1)[:, None])[without]
    assert telling_in(0, asked, none, none, True, tokens, nowhere)[0].role == "induction"


def test_a_planted_induction_head_is_where_a_view_opens() -> None:
    tokens = ["start", *"abcdabcdabcd"]
    count = len(tokens)
    even = np.tril(np.ones((count, count)))
    planted = np.tril(np.full((count, count), 0.02))
    for query in range(5, count):
        planted[query, query - 3] = 3  # what followed the copy four places before
    scores = np.stack([even, planted, even])
    scores = (scores / scores.sum(-1, keepdims=True))[None].repeat(2, 0)
    scores[0, 1] = scores[0, 0]
    content = content_of_arrays(tokens, scores)
    best = content.telling["decoder self"][0]
    assert (best.layer, best.head, best.role) == (1, 1, "induction")
    state = headscope.head_view(tokens=tokens, scores=scores).fitted
    assert (state.layer, state.heads) == (1, (1,))
    of_layer = headscope.head_view(tokens=tokens, scores=scores, layer=0)
    assert of_layer.fitted.heads is None  # who names a layer sees all its heads


def test_what_cannot_be_seen_is_not_first() -> None:
    weak = Telling(0, 0, "induction", 0.9, 0.05, 3, 2, 0.3)
    strong = Telling(1, 1, "", 0, 0.6, 3, 2, 0.9)
    assert ranked([weak, strong], [False] * 4) == [strong, weak]
    assert opening([]) is None


@pytest.mark.real
def test_a_real_encoder_opens_at_its_previous_token_head(minilm: Path) -> None:
    with headscope.open(str(minilm)) as lens:
        content = content_of(lens.read("The keys to the cabinet are on the table, next to the lamp that my sister bought."))
    best = content.telling["encoder self"][0]
    assert (best.layer, best.head, best.role) == (0, 2, "previous token")
    assert best.share > 0.99


@pytest.mark.real
def test_no_head_of_a_real_encoder_is_named_for_a_word_that_all_look_at(minilm: Path) -> None:
    with headscope.open(str(minilm)) as lens:
        content = content_of(lens.read("The keys to the cabinet are on the table."))
    found = content.telling["encoder self"]
    assert (found[0].layer, found[0].head, found[0].role) == (0, 8, "duplicate token")
    assert "induction" not in {one.role for one in found}
