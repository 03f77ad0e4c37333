"""head_view, model_view, neuron_view, matrix_view: four ways to look at one reading, or at arrays of your own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypedDict, Unpack

from headscope.errors import InputError
from headscope.lens.reading import Reading
from headscope.lens.tokens.labels import visible
from headscope.study import Run
from headscope.views.content import Content
from headscope.views.from_reading import USUAL, content_of, content_of_arrays
from headscope.views.state import State
from headscope.views.view import View

# A page for one sentence holds everything; from so many numbers a measure on, the largest parts come when asked for.
EFFECTIVE_BELOW = 2_000_000
NEURONS_BELOW = 400_000


class Options(TypedDict, total=False):
    """What every view takes beside a reading."""

    tokens: Sequence[str]  # with `scores`, instead of a reading: the tokens that attend
    scores: Any  # (layer, head, query, key), (head, query, key) or (query, key), or a dictionary of them by measure
    key_tokens: Sequence[str]  # with `scores`: the tokens that are attended to, where they are others
    special: Sequence[bool]  # with `scores`: which tokens are special
    measures: Sequence[str]  # what the page can switch between
    only: Mapping[int, Sequence[int]]  # {layer: heads}: leave out all others
    run: Run | str | Path  # heads can be sorted by its statistics
    title: str
    exact: bool  # floats instead of bytes
    height: int  # of the frame in a notebook, in pixels
    attention: str  # "encoder self", "decoder self", "decoder cross"
    layer: int
    heads: Sequence[int]
    measure: str
    unit: str  # "pieces" | "words"
    pairs: str  # "all" | "aa" | "ab" | "ba" | "bb"
    least: float
    top: int
    hide_special: bool
    keep: Sequence[str]
    compare: str
    sort: str  # the model view: heads by a statistic of the run, the largest first
    above: float  # with sort: only heads whose statistic is at least this
    theme: str


def head_view(reading: Reading | None = None, **options: Unpack[Options]) -> View:
    """Tokens on both sides and a line for every score: what one layer's heads look at.

    >>> view = head_view(tokens=["the", "cat"], scores=[[1.0, 0.0], [0.3, 0.7]])
    >>> view
    <View head: 'the cat'; .save('x.html') writes it>
    """
    return _view("head", reading, options)


def model_view(reading: Reading | None = None, **options: Unpack[Options]) -> View:
    """Every head of every layer, small; the one that is clicked, large."""
    return _view("model", reading, options)


def neuron_view(reading: Reading | None = None, **options: Unpack[Options]) -> View:
    """Query, key, their product, the dot product, the softmax, and the norm of what it multiplies, for one token."""
    return _view("neuron", reading, options)


def matrix_view(reading: Reading | None = None, **options: Unpack[Options]) -> View:
    """A heat map of one head, to zoom and pan in; two measures side by side with their difference."""
    return _view("matrix", reading, options)


def _view(view: str, reading: Reading | None, options: Options) -> View:
    for name in options:
        if name not in Options.__annotations__:
            known = ", ".join(Options.__annotations__)
            raise InputError(f"A view has no option {name!r}: there are {known}.")
    content = _content(view, reading, options)
    if run := options.get("run"):
        content = replace(content, statistics=Run.open(run).head_statistics)
    state = State(
        view=view,
        attention=options.get("attention", ""),
        layer=options.get("layer"),
        heads=tuple(options["heads"]) if "heads" in options else None,
        measure=options.get("measure", content.measures[0]),
        unit=options.get("unit", "words" if reading is not None and reading.in_words else "pieces"),
        pairs=options.get("pairs", "all"),
        least=options.get("least", 0.0),
        top=options.get("top", 0),
        special=not options.get("hide_special", False),
        keep=tuple(options.get("keep", ())),
        compare=options.get("compare", ""),
        sort=options.get("sort", ""),
        above=options.get("above"),
        theme=options.get("theme", ""),
    )
    return View(content, state, exact=options.get("exact", False), height=options.get("height"))


def _content(view: str, reading: Reading | None, options: Options) -> Content:
    title = visible(options["title"]) if options.get("title") else ""
    if reading is None:
        if "tokens" not in options or "scores" not in options:
            raise InputError("A view needs a reading (lens.read(...)), or arrays: tokens=[...] and scores=[...].")
        if view == "neuron":
            raise InputError("A neuron view needs queries and keys, which scores do not have: give a reading.")
        return content_of_arrays(
            options["tokens"],
            options["scores"],
            key_tokens=options.get("key_tokens"),
            special=options.get("special"),
            title=title,
        )
    if not isinstance(reading, Reading):
        raise InputError(f"A view draws a reading, as lens.read(...) returns it, not a {type(reading).__name__}.")
    only = options.get("only")
    numbers = sum(block.weights[0].numel() for block in reading.blocks.values())
    usual = (*USUAL, "effective") if numbers <= EFFECTIVE_BELOW else USUAL
    asked = [options[name] for name in ("measure", "compare") if options.get(name)]
    measures = list(dict.fromkeys((*(options.get("measures") or usual), *asked)))
    content = content_of(reading, measures, neurons=view == "neuron" or numbers <= NEURONS_BELOW, only=only, title=title)
    for name in asked:
        if name not in content.measures:
            why = next(iter(reading.blocks.values())).site.why_no_norms
            raise InputError(f"The measure {name!r} can't be had of this model, because {why}: there is 'weight'.")
    return content
