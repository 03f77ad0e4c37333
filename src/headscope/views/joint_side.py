"""The tokens of two texts on one axis: what both have once, what one has alone in its place, what was exchanged as a pair.

Words are put beside words first, then the pieces of two words that stand for each other: so every token belongs to one word,
and the axis is the same in pieces and merged to words.
"""

from collections.abc import Sequence

from headscope.views.aligning import Pair, align
from headscope.views.content import Joint, Origin, Side
from headscope.views.schema import Change

Key = tuple[str, int]  # what a token or word is known by, and to which text of a pair it belongs


def joint_side(first: Side, second: Side, *, one_tokenizer: bool = True) -> Side:
    """Both sides on one axis. Pieces of two tokenizers are the same if they read the same, capitals and ## aside.

    >>> both = joint_side(Side.plain(["the", "keys", "are"]), Side.plain(["the", "old", "keys", "were"]))
    >>> both.tokens, both.joint.tokens
    (['the', 'old', 'keys', 'are/were'], ['', 'put in', '', 'exchanged'])
    """
    keys = _keys(first, second, one_tokenizer), _keys(second, first, one_tokenizer)
    members = _members(first), _members(second)
    word_keys = (
        _word_keys(first, members[0], keys[0], one_tokenizer),
        _word_keys(second, members[1], keys[1], one_tokenizer),
    )
    words = align(*word_keys, may_replace=_are_of_one_text)
    pieces = [_pieces(pair, members, keys) for pair in words]
    tokens = [pair for found in pieces for pair in found]
    changes = _changes(tokens, keys), _changes(words, word_keys)
    a, b = (
        Origin([pair[end] for pair in tokens], _picked(tokens, side.tokens, end), _picked(words, side.words, end))
        for end, side in enumerate((first, second))
    )
    raw = _said(_picked(tokens, first.raw, 0), _picked(tokens, second.raw, 1), changes[0])
    known = [(first, one) if one is not None else (second, other or 0) for one, other in tokens]
    return Side(
        _said(a.tokens, b.tokens, changes[0]),
        raw,
        [_is_special(pair, first, second) for pair in tokens],
        _said(a.words, b.words, changes[1]),
        [number for number, found in enumerate(pieces) for _ in found],
        [side.segments[place] for side, place in known],
        Joint(a, b, *changes),
    )


def _keys(side: Side, other: Side, one_tokenizer: bool) -> list[Key]:
    """What tokens are compared by. Special ones that the other tokenizer does not know are all alike: [SEP] is </s>."""
    theirs = {token for token, special in zip(other.tokens, other.special, strict=True) if special}
    known = []
    for token, special in zip(side.tokens, side.special, strict=True):
        if special:
            known.append(token if one_tokenizer or token in theirs else "")
        else:
            known.append(token if one_tokenizer else token.removeprefix("##").casefold())
    return list(zip(known, side.segments, strict=True))


def _word_keys(side: Side, members: list[list[int]], keys: list[Key], one_tokenizer: bool) -> list[Key]:
    """Words by themselves; a special token, which is a word of its own, as a token is."""
    words = side.words if one_tokenizer else [word.casefold() for word in side.words]
    return [
        keys[pieces[0]] if side.special[pieces[0]] else (word, side.segments[pieces[0]])
        for word, pieces in zip(words, members, strict=True)
    ]


def _members(side: Side) -> list[list[int]]:
    """The pieces of every word."""
    found: list[list[int]] = [[] for _ in side.words]
    for piece, word in enumerate(side.word_of):
        found[word].append(piece)
    return found


def _pieces(pair: Pair, members: tuple[list[list[int]], ...], keys: tuple[list[Key], ...]) -> list[Pair]:
    """The pieces of two words that stand for each other, or of one that stands alone, in order."""
    one, other = ([] if word is None else of[word] for word, of in zip(pair, members, strict=True))
    found = align([keys[0][piece] for piece in one], [keys[1][piece] for piece in other])
    return [(None if a is None else one[a], None if b is None else other[b]) for a, b in found]


def _are_of_one_text(one: Key, other: Key) -> bool:
    return one[1] == other[1]


def _changes(pairs: Sequence[Pair], keys: tuple[list[Key], ...]) -> list[Change]:
    found: list[Change] = []
    for one, other in pairs:
        if one is None or other is None:
            found.append("put in" if one is None else "left out")
        else:
            found.append("" if keys[0][one] == keys[1][other] else "exchanged")
    return found


def _picked(pairs: Sequence[Pair], labels: Sequence[str], end: int) -> list[str]:
    """The labels of one of the two; empty where it has none."""
    places = [pair[end] for pair in pairs]
    return ["" if place is None else labels[place] for place in places]


def _said(ones: Sequence[str], others: Sequence[str], changes: Sequence[Change]) -> list[str]:
    """One label for both: `are/were` of what was exchanged; an arrow would say that one attends to the other."""
    return [
        f"{one}/{other}" if change == "exchanged" else one or other
        for one, other, change in zip(ones, others, changes, strict=True)
    ]


def _is_special(pair: Pair, first: Side, second: Side) -> bool:
    """Of a mask in whose place a word stands: no."""
    return all(side.special[place] for side, place in zip((first, second), pair, strict=True) if place is not None)
