"""Every token in one category: by hand for an encoder, a decoder and cross attention, and a user's own rules."""

from __future__ import annotations

from dataclasses import replace

import pytest

from headscope.errors import InputError
from headscope.lens.block import AttentionBlock
from headscope.lens.site import Site
from headscope.statistics.kit.categories import USUAL, category_names, key_categories, parse_categories
from headscope.text import Document
from tests.statistics.tester import SITE, block_by_hand, documents, lens_for

DECODER = replace(SITE, stack="decoder")
CROSS = replace(DECODER, kind="cross")


def categories(tokens: str, site: Site = SITE, given: dict[str, str] | None = None) -> list[str]:
    """By hand: tokens with spaces between; those in brackets are special."""
    labels = tokens.split()
    special = [label.startswith(("[", "<")) for label in labels]
    block = block_by_hand([[0.0] * len(labels)], labels, special, site)
    names = category_names(given or {})
    return [names[number] for number in key_categories(block, given or {})[0]]


def test_the_paper_s_four() -> None:
    found = categories("[CLS] a . b [SEP] c , [SEP]")
    assert found == ["first", "other", "punctuation", "other", "separator", "other", "punctuation", "separator"]


def test_only_whole_periods_and_commas_without_their_marks_are_punctuation() -> None:
    assert categories("a ... Ġ, ##. ▁. ; .5") == [*["other"] * 2, *["punctuation"] * 3, *["other"] * 2]


def test_the_first_token_of_a_decoder_s_text_whatever_it_is() -> None:
    assert categories("Once upon .", DECODER) == ["first", "other", "punctuation"]
    assert categories(", upon", DECODER) == ["first", "other"]
    assert categories("<s> upon </s>", DECODER) == ["first", "other", "separator"]


def test_no_first_token_where_an_encoder_s_text_starts_without_a_special_one() -> None:
    assert categories("chat noir </s>") == ["other", "other", "separator"]
    assert categories("chat noir </s>", CROSS) == ["other", "other", "separator"]  # the keys are the encoder's


def test_a_special_token_that_is_punctuation_is_a_separator() -> None:
    block = block_by_hand([[0.0] * 2], ["a", "."], [False, True])
    assert key_categories(block, {})[0].tolist() == [USUAL.index("other"), USUAL.index("separator")]


def test_a_user_s_own_come_first_and_in_their_order() -> None:
    given = {"articles": "a the", "short": "/.{1,3}/", "ends": "[SEP]"}
    found = categories("[CLS] the cat ##s slept . [SEP]", given=given)
    assert found == ["first", "articles", "short", "short", "other", "short", "ends"]
    assert category_names(given) == ("articles", "short", "ends", *USUAL)


def test_a_regular_expression_must_match_the_whole_token() -> None:
    assert categories("a1 1 11", given={"numbers": "/[0-9]+/"}) == ["other", "numbers", "numbers"]


def test_two_sets_of_categories_on_one_batch_do_not_mix() -> None:
    block = block_by_hand([[0.0] * 2], ["a", "b"])
    assert key_categories(block, {"mine": "a"})[0].tolist() == [0, 4]
    assert key_categories(block, {"mine": "b"})[0].tolist() == [4, 0]
    assert key_categories(block, {})[0].tolist() == [3, 3]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"first": "a"}, "'first' exists already"),
        ({"mine": "/(/"}, "is no regular expression"),
        ({"mine": "  "}, "has no tokens"),
    ],
)
def test_what_is_no_category_is_said(given: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_categories(given)


def test_padding_is_other_and_a_translation_model_s_two_sides_have_their_own() -> None:
    lens = lens_for("marian")
    found: dict[str, list[list[int]]] = {}

    def receive(block: AttentionBlock) -> None:
        found[f"{block.site.stack} {block.site.kind}"] = key_categories(block, {}).tolist()

    short, long = Document("the end", target="end"), documents("marian")[0]
    lens.run(lens.encoder.batch([short, long]), receive)
    source, target = (getattr(lens.encoder.batch([short]), side)[0] for side in ("sources", "targets"))
    for site, sequence, starts in (
        ("encoder self", source, USUAL.index("other")),
        ("decoder self", target, USUAL.index("first")),
        ("decoder cross", source, USUAL.index("other")),
    ):
        row = found[site][0]
        assert row[0] == starts
        assert set(row[len(sequence) :]) == {USUAL.index("other")}
