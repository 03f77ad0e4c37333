"""Heads on single sentences: one for each pattern of the surface (figure 1), one for each thing a head knows (figure 5)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from headscope.heads.patterns import BROAD, HALF
from headscope.later import Figure, pd
from headscope.lens.lens import Lens
from headscope.lens.reading import Reading
from headscope.lens.tokens.encoder import AS_WRITTEN, Encoding
from headscope.papers.clark2019 import examples
from headscope.papers.clark2019.surface import EdgeTokens
from headscope.statistics.words.relation_cases import Case, cases_of
from headscope.statistics.words.relations import DIRECTIONS
from headscope.study.results.result import Result, in_percent, paper_label
from headscope.study.results.workspace import Unsuitable
from headscope.study.tables import main_stack
from headscope.text import Corpus, Document
from headscope.text.relation_names import OTHER, REVERSED, find_relation
from headscope.views.print import Panel, Shown, draw_panels, map_of
from headscope.views.print.shown import Mask

# The relations of figure 5, and noun modifiers and prepositions: what their dependents and their heads are.
RELATIONS = {
    "dobj": ("direct objects", "verbs"),
    "det": ("determiners", "nouns"),
    "pobj": ("objects", "prepositions"),
    "poss": ("possessives", "nouns"),
    "auxpass": ("passive auxiliaries", "verbs"),
    "nn": ("noun modifiers", "nouns"),
    "prep": ("prepositions", "the words that they modify"),
}
COREFERENCE = "coreference"


Reader = Callable[[Document], Reading]


@dataclass(frozen=True)
class Example:
    """One head on one text: what is drawn, and what the tables say of it."""

    name: str  # the pattern or relation
    layer: int
    head: int
    value: float  # its share, or its accuracy
    says: Sequence[str]  # what stands above the map
    found: Shown
    marked: Sequence[int]  # places of the words that are asked, whose attention is coloured
    document: Document
    coloured: Mask | None = None  # (query, key): other attention in colour

    @property
    def label(self) -> str:
        return paper_label(self.layer, self.head)

    @property
    def marked_text(self) -> str:
        """The text with the marked words in **bold**."""
        labels = enumerate(self.found.queries.labels)
        return " ".join(f"**{label}**" if place in self.marked else label for place, label in labels)


def figure1(shares: pd.DataFrame, tokens: EdgeTokens, corpus: Corpus, lens: Lens, measure: str) -> Result:
    """Of each pattern the head that has most of it, on one text; all of its attention, special tokens too."""
    document = examples.opening_text(corpus, lens)
    reading = lens.read(document, truncate=True)
    panels = []
    for pattern, says, values, of_what in _patterns(shares, tokens):
        best = shares.loc[values.idxmax()]
        layer, head = int(best["layer"]), int(best["head"])
        found = map_of(reading, layer, head, measure=measure, level="token", without_sinks=False)
        value = float(values.max())
        said = [says, f"{in_percent(value)}% of {of_what}"]
        panels.append(Example(pattern, layer, head, value, said, found, [], document, _shows(pattern, found, tokens)))
    shown = _summary(panels, "Pattern", "Share")
    notes = [
        f"Of each pattern the head that has most of it in this run, on sentences of {_place(document) or 'a segment'}. "
        "What is of the pattern is blue, all other attention grey and fainter. The darker a line, the larger the "
        f"{measure}; the darkest is the largest of its head. Heads are layer-head from 1, as in the paper."
    ]
    title = "Figure 1: examples of heads that show a pattern"
    return Result("clark2019_fig1_maps", title, pairs_drawn(panels), shown, drawn(panels), notes)


def figure5(
    best_heads: pd.DataFrame | None,
    treebank: Corpus | None,
    antecedents: pd.DataFrame | None,
    windows: Sequence[Document],
    lens: Lens,
    measure: str,
    encoding: Encoding = AS_WRITTEN,
    cases: Callable[[Document], list[Case]] = cases_of,
) -> Result:
    """Of each relation, and of coreference, the best head on the shortest good sentence that it gets right."""
    tried: list[Example | str] = []
    if best_heads is not None and treebank is not None:
        tried += _relation_panels(best_heads, treebank, partial(_reader, lens, encoding), measure, cases)
    if antecedents is not None and windows:
        tried.append(_coreference_panel(antecedents, windows, partial(_reader, lens, encoding), measure))
    panels = [one for one in tried if isinstance(one, Example)]
    if not panels:
        raise Unsuitable("no short sentence was found on which the best head of any relation is right.")
    notes = [
        f"The best head for each, on the shortest sentence of {examples.FEW} words or more that it gets all right: "
        "every word in blue looks most at the one that it belongs to, itself left aside. Attention from blue words to "
        f"others is blue, all other grey. The darker a line, the larger the {measure}; the darkest blue is the largest of "
        "its word, the darkest grey that of the head. Special tokens are not shown, and their share is said. "
        "Heads are layer-head from 1, as in the paper."
    ]
    if missed := [one for one in tried if isinstance(one, str)]:
        notes.append(f"No short sentence was found that the best head gets right for {', '.join(missed)}.")
    shown = _summary(panels, "Knows", "Accuracy")
    title = "Figure 5: examples of heads that know a relation"
    return Result("clark2019_fig5", title, pairs_drawn(panels), shown, drawn(panels), notes)


def _patterns(shares: pd.DataFrame, tokens: EdgeTokens) -> Iterator[tuple[str, str, pd.Series, str]]:
    """Pattern, what its best head does, the share of each head, and a share of what. A decoder cannot look ahead."""
    attention = "its attention"
    neighbour = "previous token" if (shares["stack"] == "decoder").all() else "next token"
    separated = shares["separator"].notna().any()
    edge = "separator" if separated else "first token"
    every = (
        ("broad", "broadly", shares["entropy"] / shares["uniform"], "the entropy of uniform attention", BROAD),
        (neighbour, f"to the {neighbour}", shares[neighbour], attention, HALF),
        (edge, f"to {tokens.separator if separated else 'the first token'}", shares[edge], attention, HALF),
        ("period", "to periods", shares["period"], attention, HALF),
    )
    for pattern, where, values, of_what, bar in every:
        if (values > 0).any():
            does = "Attends" if values.max() >= bar else "More than any other head"  # no head of this model shows it
            yield pattern, f"{does} {where}", values, of_what


def _shows(pattern: str, found: Shown, tokens: EdgeTokens) -> Mask | None:
    """(query, key): which attention is of a pattern; None for all of it."""
    labels = found.keys.labels
    if pattern in ("previous token", "next token"):
        return np.eye(len(found.queries), len(labels), 1 if pattern == "next token" else -1, dtype=bool)
    of_keys = {
        "separator": [label in tokens.separators for label in labels],
        "first token": [place == 0 for place in range(len(labels))],
        "period": [label.removeprefix("##") == "." for label in labels],
    }
    return np.broadcast_to(of_keys[pattern], (len(found.queries), len(labels))) if pattern in of_keys else None


def _relation_panels(
    best_heads: pd.DataFrame,
    treebank: Corpus,
    reader: Callable[[int], Reader],
    measure: str,
    cases: Callable[[Document], list[Case]],
) -> Iterator[Example | str]:
    """A panel for each relation of the paper that the treebank has under some name, or the name where none was found."""
    better = best_heads[best_heads["better"]].set_index("relation")
    for name, (dependents, heads) in RELATIONS.items():
        relation = find_relation(name, set(better.index))
        if relation is None or relation.ends == OTHER:
            continue
        best = better.loc[relation.name]
        ends = (heads, dependents) if relation.ends == REVERSED else (dependents, heads)
        asked, wanted = ends if best["direction"] == DIRECTIONS[0] else ends[::-1]
        questions = examples.relation_questions(relation.name, best["direction"], cases)
        layer, head = int(best["layer"]), int(best["head"])
        found = examples.answered(treebank, questions, reader(layer), layer, head, measure)
        if found is None:
            yield relation.name
            continue
        their = wanted if wanted.startswith("the ") else f"their {wanted}"
        accuracy = float(best["accuracy"])
        said = [f"{asked.capitalize()} attend to {their}", f"{in_percent(accuracy)}% accuracy at {relation.name}"]
        yield Example(relation.name, layer, head, accuracy, said, found.found, found.asked, found.document)


def _coreference_panel(
    antecedents: pd.DataFrame, windows: Sequence[Document], reader: Callable[[int], Reader], measure: str
) -> Example | str:
    heads = main_stack(antecedents)
    best = heads.loc[heads["all"].idxmax()]
    layer, head, accuracy = int(best["layer"]), int(best["head"]), float(best["all"])
    spans = examples.coreference_spans(windows)
    found = examples.answered(spans, examples.antecedent_questions, reader(layer), layer, head, measure)
    if found is None:
        return COREFERENCE
    said = ["Mentions attend to their antecedents", f"{in_percent(accuracy)}% accuracy at coreference"]
    return Example(COREFERENCE, layer, head, accuracy, said, found.found, found.asked, found.document)


def _reader(lens: Lens, encoding: Encoding, layer: int) -> Reader:
    """Reads a document, only one layer of it."""
    return partial(lens.read, truncate=True, layers=[layer], encoding=encoding)


def _summary(panels: Sequence[Example], what: str, value: str) -> pd.DataFrame:
    """One row a map, with the words that were asked in bold."""
    rows = [(one.name, one.label, in_percent(one.value), one.marked_text, one.document.name) for one in panels]
    return pd.DataFrame(rows, columns=[what, "Head", value, "Text", "Source"])


def drawn(panels: Sequence[Example], columns: int = 4) -> Figure:
    """As wide as a page, each map below its head and what that does."""
    maps = [
        Panel(one.found, f"Head {one.label}", one.says, one.marked, one.coloured, _place(one.document)) for one in panels
    ]
    return draw_panels(maps, columns, "clark2019")


def _place(document: Document) -> str:
    """Where a text is from, without folders: `wiki.txt:12`, or a name of its own."""
    return document.name.replace("\\", "/").rsplit("/", 1)[-1]


def pairs_drawn(panels: Sequence[Example]) -> pd.DataFrame:
    """One row for every pair of words in every map."""
    parts = []
    for one in panels:
        found = one.found
        rows, columns = np.indices(found.scores.shape[1:]).reshape(2, -1)
        head = {"stack": found.attention.stack, "kind": found.attention.kind, "layer": one.layer, "head": one.head}
        part = pd.DataFrame({"name": one.name, **head, "source": one.document.name, "row": rows, "key": columns})
        part["attending"] = [found.queries.labels[row] for row in rows]
        part["attended"] = [found.keys.labels[column] for column in columns]
        parts.append(part.assign(score=found.scores[0].ravel(), marked=np.isin(rows, list(one.marked))))
    return pd.concat(parts, ignore_index=True)
