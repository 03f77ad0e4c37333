"""The difference of two contents, the second (B) less the first (A): two texts, or two models on one text."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from headscope.lens.reading import Level
from headscope.lens.tokens.labels import visible
from headscope.views.content import Array, Attention, Compared, Content, Side
from headscope.views.joint_maps import apart, on_axes
from headscope.views.joint_side import joint_side
from headscope.views.ranking import change_of, change_statistic
from headscope.views.shared_heads import Heads, heads_of, left_out, shared_heads

LONGEST = 14  # words of a title
Sides = Mapping[str, Side]


def difference_of(a: Content, b: Content) -> Content:
    """What a view draws of both, on the tokens of both: for every head that both have, the scores of b less those of a."""
    shared = shared_heads(heads_of(a), heads_of(b))
    one, other = (only_shared(content, shared) for content in (a, b))
    one, other = _only_measures(one, other), _only_measures(other, one)
    joint = joint_content(one, other, notes_of(a, b))
    pairs = list(zip(one.attentions, other.attentions, strict=True))
    changes = [change_of(first, second, joint, level_of(a, b)) for first, second in pairs]
    statistics = change_statistic({name: value for found in changes for name, value in found.items()})
    return replace(joint, attentions=[_apart(*pair, joint.sides) for pair in pairs], statistics=statistics)


def joint_content(one: Content, other: Content, notes: list[str]) -> Content:
    """The content of a difference before anything is taken from anything: whose it is, its tokens, and its sinks."""
    sides = joint_sides(one, other)
    models = list(dict.fromkeys(filter(None, (one.model, other.model))))
    compared = Compared(one, other, notes)
    sinks = {
        attention.group: joint_sinks(one.sinks[attention.group], other.sinks[attention.group], sides[attention.key])
        for attention in one.attentions
    }
    return Content(title_of(sides), sides, [], model=" and ".join(models), sinks=sinks, compared=compared)


def joint_sinks(first: Sequence[bool], second: Sequence[bool], side: Side) -> list[bool]:
    """Which tokens of both are a sink in one of the two at least."""
    assert side.joint is not None
    places = zip(side.joint.a.places, side.joint.b.places, strict=True)
    return [(a is not None and first[a]) or (b is not None and second[b]) for a, b in places]


def notes_of(a: Content, b: Content) -> list[str]:
    """What must be known of the two to read their difference."""
    said = left_out(heads_of(a), heads_of(b))
    said += [f"Only {name} has the measure {measure}." for name, measure in _measures_alone(a, b)]
    if a.model != b.model:
        said.append(
            "Heads of two models are compared by their names: that tells of models of which one was made from the other."
        )
    if not is_one_tokenizer(a, b):
        said.append("The two have different tokenizers: words can be compared, pieces hardly.")
    return said


def joint_sides(a: Content, b: Content) -> dict[str, Side]:
    """The tokens of both, for every side that some attention here looks from or at."""
    alike = is_one_tokenizer(a, b)
    names = dict.fromkeys(name for attention in a.attentions for name in (attention.query, attention.key))
    return {name: joint_side(a.sides[name], b.sides[name], one_tokenizer=alike) for name in names}


def is_one_tokenizer(a: Content, b: Content) -> bool:
    """Whether tokens of both can be compared as they are: one model has read both, or both read the same tokens."""
    return a.model == b.model or all(side.raw == b.sides[name].raw for name, side in a.sides.items() if name in b.sides)


def level_of(a: Content, b: Content) -> Level:
    """What two tokenizers have in common is words."""
    return "token" if is_one_tokenizer(a, b) else "word"


def title_of(sides: Sides) -> str:
    """The words of both texts, and what became of them: `The {keys → key} to the {+ old} cabinet`."""
    changed = [side for side in sides.values() if side.joint is not None and any(side.joint.words)]
    side = changed[0] if changed else next(iter(sides.values()))  # of two translations of one text, these
    assert side.joint is not None
    signs = {"": "{a}", "exchanged": "{{{a} → {b}}}", "left out": "{{− {a}}}", "put in": "{{+ {b}}}"}
    specials = {word for word, special in zip(side.word_of, side.special, strict=True) if special}
    said = [
        signs[what].format(a=visible(a), b=visible(b))
        for place, (a, b, what) in enumerate(zip(side.joint.a.words, side.joint.b.words, side.joint.words, strict=True))
        if place not in specials
    ] or side.words
    return " ".join(said[:LONGEST]) + (" …" if len(said) > LONGEST else "")


def only_shared(content: Content, shared: Heads) -> Content:
    """The attentions and heads that the other has too."""
    here = [kept_heads(content.at(*place), heads) for place, heads in shared.items()]
    return replace(content, attentions=here, statistics=[])


def kept_heads(attention: Attention, heads: list[int]) -> Attention:
    """Some of the heads; what is of all heads together stays as it is."""
    if heads == attention.heads:
        return attention
    places = [attention.heads.index(head) for head in heads]
    scores = {
        name: array if len(array) < len(attention.heads) else array[places] for name, array in attention.scores.items()
    }
    norms = None if attention.value_norm is None else attention.value_norm[places]
    return replace(attention, heads=heads, scores=scores, value_norm=norms, neurons=None)


def _only_measures(content: Content, other: Content) -> Content:
    """Without the measures that the other lacks, and without queries and keys, which are not compared."""
    kept = [
        {name: array for name, array in attention.scores.items() if name in theirs.scores}
        for attention, theirs in zip(content.attentions, other.attentions, strict=True)
    ]
    both = zip(content.attentions, kept, strict=True)
    return replace(content, attentions=[replace(attention, scores=scores, neurons=None) for attention, scores in both])


def _measures_alone(a: Content, b: Content) -> list[tuple[str, str]]:
    alone = [("A", name) for name in a.measures if name not in b.measures]
    return alone + [("B", name) for name in b.measures if name not in a.measures]


def _apart(first: Attention, second: Attention, sides: Sides) -> Attention:
    rows, columns = sides[first.query], sides[first.key]
    assert rows.joint is not None
    scores: dict[str, Array] = {}
    for name in first.scores:
        before = on_axes(first.scores[name], rows, columns, "a", "token")
        after = on_axes(second.scores[name], rows, columns, "b", "token")
        scores[name] = apart(before, after, rows.joint, "token")
    return replace(first, scores=scores, value_norm=None)
