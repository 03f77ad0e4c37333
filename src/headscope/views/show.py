"""head_view, model_view, neuron_view, matrix_view: four ways to look at one reading, or at arrays of your own."""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Concatenate, ParamSpec

from headscope.errors import InputError
from headscope.lens.head import Head
from headscope.lens.reading import Level, Reading
from headscope.lens.tokens.labels import visible
from headscope.study import Run
from headscope.views.choosing import Included, Only
from headscope.views.content import Content
from headscope.views.difference import difference_of, level_of
from headscope.views.from_arrays import content_of_arrays, content_of_stacks
from headscope.views.from_reading import check_asked, content_of, held
from headscope.views.given import check_action, sort_chosen, sort_given, sort_stacks
from headscope.views.joint_maps import Of
from headscope.views.ranking import CHANGE, most_changed
from headscope.views.state import Pairs, Scale, Small, State, Theme, sinks_chosen
from headscope.views.view import View

Options = ParamSpec("Options")


def view_of(
    view: str,
    reading: Any = None,
    tokens: Any = None,
    sentence_b_start: int | None = None,
    *,
    scores: Any = None,
    key_tokens: Sequence[str] | None = None,
    special: Sequence[bool] | None = None,
    against: Reading | Content | None = None,
    measures: Sequence[str] | None = None,
    only: Only | None = None,
    run: Run | str | Path | None = None,
    title: str = "",
    exact: bool = False,
    height: int | None = None,
    attention: Any = "",
    layer: int | None = None,
    heads: Sequence[int] | None = None,
    measure: str = "",
    level: Level | None = None,
    pairs: Pairs = "all",
    least: float = 0.0,
    top: int = 0,
    without_sinks: bool | None = None,
    renormalise: bool = False,
    keep: Sequence[str] = (),
    compare: str = "",
    of: Of = "",
    scale: Scale = "linear",
    small: Small = "",
    sort: str | None = None,
    above: float | None = None,
    theme: Theme = "",
    encoder_attention: Any = None,
    decoder_attention: Any = None,
    cross_attention: Any = None,
    encoder_tokens: Sequence[str] | None = None,
    decoder_tokens: Sequence[str] | None = None,
    include_layers: Sequence[int] | None = None,
    include_heads: Sequence[int] | None = None,
    prettify_tokens: bool = True,
    display_mode: Theme = "",
    html_action: str = "view",
) -> View:
    """What is drawn: `reading`, as lens.read(...) returns it, or arrays of your own, in either order:
        tokens: those that attend.
        scores: (layer, head, query, key), (head, query, key) or (query, key), or a dictionary of them by measure; or one
            array a layer, with a batch of one text, as models return them: outputs.attentions.
        key_tokens: those that are attended to, where they are others.
        special: which of `tokens` are special.
        sentence_b_start: the first token of the second of two texts.
        encoder_attention, decoder_attention, cross_attention: an encoder-decoder's, one array a layer each.
        encoder_tokens, decoder_tokens: theirs.
        prettify_tokens: tokens are shown without their tokenizer's marks.

    Or how another reading, of another text or by another model, differs from it:
        against: the other; what is drawn are its scores less those of `reading`.

    What the page holds:
        measures: what it can switch between.
        only: {layer: heads}; all others are left out.
        include_layers, include_heads: the same by layers and heads alone.
        run: a run, or its directory, by whose statistics heads can be sorted.
        title: the beginning of the text, if it is not given.
        exact: floats instead of bytes.
        height: of the frame in a notebook, in pixels; without it, the frame is as high as what it shows.

    What it opens with; everything can be changed in the page:
        attention: "self" or "cross"; where a model has both an encoder and a decoder, "encoder self" or "decoder self". By
            default cross attention, where there is any.
        layer, heads: the model's own numbers, from 0. By default the heads that say most about the text: those that look
            hardest at single tokens, sinks aside, and first those that do what has a name.
        measure: "weight", "norm", ...; see headscope.MEASURES.
        level: "token" or "word".
        pairs: of two texts A and B, from which to which: "all", "aa", "ab", "ba", "bb".
        least: scores below this part of the largest are not drawn.
        top: only so many scores of each token that attends; 0 for all.
        without_sinks: what nearly every head looks at is not shown (special tokens, a decoder's first token, and what most
            heads of this text park on), and the share that is hidden is said; by default a decoder's.
        renormalise: without sinks, and what is left of each row adds up to 1.
        keep: tokens that stay chosen: "q3" attends, "k5" is attended to.
        compare: the matrix has this measure beside the first, and their difference.
        of: with `against`, "a" for the first reading alone, "b" for the second; else their difference.
        scale: of the matrix's colours: "linear", "row" (each row by its own largest) or "log" (three powers of ten).
        small: the model view draws heads as "lines" or as "maps"; else as lines where the text is short.
        sort, above: the model view has heads by this statistic of the run, and only those with at least so much; with
            `against` by "change", and everything opens at the head that changed most.
        theme, or display_mode: "light" or "dark"; else as the system is set.

    html_action, "view" or "return", changes nothing: what comes back shows itself, and `.data` is the page.
    """
    title = visible(title) if title else ""
    reading, tokens, scores, attention = sort_given(reading, tokens, scores, attention)
    stacks = sort_stacks(encoder_attention, decoder_attention, cross_attention, alone=reading is None and scores is None)
    chosen = sort_chosen(only, include_layers, include_heads)
    check_action(html_action)
    asked = [name for name in (measure, compare) if name]
    if reading is not None and against is not None:
        content = _content_of_both(reading, against, measures, asked, chosen, title)
    elif reading is not None:
        content = _content_of_reading(view, reading, measures, asked, chosen, title)
    elif against is not None:
        raise InputError(
            "against= is a second reading to compare with a first: give that too, as lens.read(...) returns it."
        )
    elif not stacks and (tokens is None or scores is None):
        raise InputError("A view needs a reading (lens.read(...)), or arrays: tokens=[...] and scores=[...].")
    elif view == "neuron":
        raise InputError("A neuron view needs queries and keys, which scores do not have: give a reading.")
    elif stacks:
        content = content_of_stacks(stacks, encoder_tokens, decoder_tokens, pretty=prettify_tokens, only=chosen, title=title)
    else:
        content = content_of_arrays(
            tokens, scores, key_tokens=key_tokens, special=special, second=sentence_b_start, pretty=prettify_tokens,
            only=chosen, title=title,
        )  # fmt: skip
    if run is not None:
        opened = Run.open(run)
        named = {Head.of(row).name: row["role"] for row in opened.roles.to_dict("records") if row["family"] != "none"}
        content = replace(content, statistics=[*content.statistics, *opened.head_statistics], roles=named)
    group = content.group_named(attention)
    if content.compared is not None:
        sort = CHANGE if sort is None and content.statistics else sort
        level = level or level_of(content.compared.a, content.compared.b)
        if layer is None and heads is None and (most := most_changed(content, group)):
            layer, heads = most.layer, [most.head]
    state = State(
        view, group, layer, None if heads is None else tuple(heads), measure or content.measures[0],
        level or ("token" if reading is None or isinstance(reading, Content) else reading.level), pairs, least, top,
        sinks_chosen(without_sinks, renormalise), tuple(keep), compare, of, scale, small, sort or "", above,
        theme or display_mode,
    )  # fmt: skip
    return View(content, state, exact=exact, height=height)


def _sharing_options(
    function: Callable[Concatenate[str, Options], View],
) -> Callable[[str, str], Callable[Options, View]]:
    """What makes the function of a view: it takes what `function` takes, and says so to whoever asks for help."""
    signature = inspect.signature(function)

    def named(view: str, about: str) -> Callable[Options, View]:
        def show(*arguments: Options.args, **options: Options.kwargs) -> View:
            return function(view, *arguments, **options)

        show.__name__ = show.__qualname__ = f"{view}_view"
        show.__doc__ = f"{about}\n\n{inspect.getdoc(function)}"
        show.__signature__ = signature.replace(parameters=list(signature.parameters.values())[1:])  # type: ignore[attr-defined]
        return show

    return named


_view = _sharing_options(view_of)

head_view = _view(
    "head",
    """Tokens on both sides and a line for every score: what one layer's heads look at.

>>> head_view(tokens=["the", "cat"], scores=[[1.0, 0.0], [0.3, 0.7]])
<View head: 'the cat'; .save('x.html') writes it>""",
)
model_view = _view("model", "Every head of every layer, small; the one that is clicked, large.")
neuron_view = _view(
    "neuron",
    "Query, key, their product, the softmax, and the norm of what it multiplies, for one token.",
)
matrix_view = _view(
    "matrix",
    "A heat map of one head, to zoom and pan in; two measures side by side with their difference.",
)


def difference_view(a: Reading, b: Reading, *, view: str = "model", **options: Any) -> View:
    """How b differs from a, two texts or two models on one: the scores of b less those of a, heads ranked by their change.

    Tokens are put beside each other; what was put in, left out or exchanged is marked. It opens with `view`: "model",
    "head" or "matrix".

    """
    return view_of(view, a, against=b, **options)


def _sharing_choices(function: Callable[..., View]) -> None:
    """A function of readings takes what `view_of` takes beside them, and says so to whoever asks for help."""
    own, others = inspect.signature(function), inspect.signature(view_of).parameters
    shared = [one for name, one in others.items() if name not in ("view", "reading", "against", *_ARRAYS)]
    named = [one for one in own.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
    function.__signature__ = own.replace(parameters=[*named, *shared])  # type: ignore[attr-defined]
    _, choices = (inspect.getdoc(view_of) or "").split("What the page holds:")
    function.__doc__ = f"{inspect.getdoc(function)}\n\nWhat the page holds:{choices}"


_ARRAYS = (
    "tokens", "scores", "key_tokens", "special", "sentence_b_start", "prettify_tokens", "encoder_attention",
    "decoder_attention", "cross_attention", "encoder_tokens", "decoder_tokens",
)  # fmt: skip
_sharing_choices(difference_view)


def _content_of_both(
    a: Reading | Content,
    b: Reading | Content,
    measures: Sequence[str] | None,
    asked: Sequence[str],
    only: Only | Included | None,
    title: str,
) -> Content:
    both = [_content_of_reading("", one, measures, asked, only, "") for one in (a, b)]
    content = difference_of(*both)
    return replace(content, title=title) if title else content


def _content_of_reading(
    view: str,
    reading: Reading | Content,
    measures: Sequence[str] | None,
    asked: Sequence[str],
    only: Only | Included | None,
    title: str,
) -> Content:
    if isinstance(reading, Content):
        return replace(reading, title=title) if title else reading
    if not isinstance(reading, Reading):
        raise InputError(f"A view draws a reading, as lens.read(...) returns it, not a {type(reading).__name__}.")
    names, neurons = held(view, measures, asked, sum(block.weights[0].numel() for block in reading.blocks.values()))
    content = content_of(reading, names, neurons=neurons, only=only, title=title)
    check_asked(content, asked, reading.sites)
    return content
