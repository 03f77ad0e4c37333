"""Titles and explanations of the columns of a run's tables, for people who meet them for the first time."""

from __future__ import annotations

from dataclasses import dataclass, replace

from headscope.statistics import STATISTICS
from headscope.statistics.table_names import parse

SHARE, ACCURACY, NATS, TOKENS, LENGTH, COUNT, RATIO = "share", "accuracy", "nats", "tokens", "length", "count", "ratio"
CATEGORIES = {
    "first": "the first token",
    "separator": "separators",
    "punctuation": "periods and commas",
    "other": "all other tokens",
}


@dataclass(frozen=True)
class Column:
    """What a column is called and what it says; `more` is what a larger number means."""

    title: str
    unit: str
    about: str
    more: str
    of_heads: bool = True  # whether it tells heads apart, and so belongs on a card
    positional: bool = False  # whether it compares places in one text

    def tells_of(self, kind: str) -> bool:
        """Whether it says something of a head: places in two texts have nothing to do with each other."""
        return self.of_heads and not (self.positional and kind == "cross")


def _share(title: str, of: str, more: str) -> Column:
    return Column(title, SHARE, f"The part of {of}.", more)


def _place(title: str, of: str, more: str) -> Column:
    return replace(_share(title, of, more), positional=True)


_REST = "what the head does not park on the first token or a separator that goes to"
_ALL = "all the head's attention that goes to"
_RANDOM = "On random tokens that come twice, the part of all attention of the second half that goes to"

COLUMNS: dict[str, dict[str, Column]] = {
    "beyond_sinks": {
        "first": _share("Parked on the first token", f"{_ALL} the token that starts the text", "parks more there"),
        "separator": _share("Parked on separators", f"{_ALL} separators such as [SEP]", "parks more there"),
        "rest": _share("Not parked", f"{_ALL} neither the first token nor separators", "is busier with the text itself"),
        "two_before": _place("Two tokens before", f"{_REST} the token two places before", "looks there more"),
        "previous": _place("Previous token", f"{_REST} the token just before", "looks there more"),
        "same": _place("Same token", f"{_REST} the very token that looks", "looks at itself more"),
        "next": _place("Next token", f"{_REST} the token just after", "looks there more"),
        "two_after": _place("Two tokens after", f"{_REST} the token two places after", "looks there more"),
        "punctuation": _share("Punctuation", f"{_REST} periods and commas", "looks there more"),
        "one_token": _share("One token of each text", f"{_REST} the one token that gets most of it", "has a second sink"),
        "breadth": Column(
            "Breadth of the rest",
            RATIO,
            "How evenly the head spreads what it does not park: 1 for alike on all tokens, 0 for one token.",
            "spreads it more evenly",
        ),
    },
    "offsets": {
        "previous": _place("Previous token, of all", f"{_ALL} the token just before", "looks there more"),
        "same": _place("Same token, of all", f"{_ALL} the very token that looks", "looks at itself more"),
        "next": _place("Next token, of all", f"{_ALL} the token just after", "looks there more"),
    },
    "first_token": {"first_token": _share("First token", f"{_ALL} the first token of the text", "looks there more")},
    "punctuation": {
        "comma": _share("Commas, of all", f"{_ALL} commas", "looks there more"),
        "period": _share("Periods, of all", f"{_ALL} periods", "looks there more"),
    },
    "separators": {
        "share": _share("Separators, of all", f"{_ALL} separators", "looks there more"),
        "from_separator": _share("Separators to separators", "what separators give that goes to separators", "gives more"),
        "from_others": _share("Others to separators", "what other tokens give that goes to separators", "gives more"),
    },
    "entropy": {
        "entropy": Column(
            "Entropy", NATS, "How broadly a token looks: 0 for one token, more for many.", "looks more broadly"
        ),
        "uniform": Column(
            "Entropy of looking at all alike", NATS, "The most that the entropy could be.", "is longer", False
        ),
    },
    "entropy_ends": {
        "first": Column("Entropy of the first token", NATS, "How broadly the first token looks.", "looks more broadly"),
        "first_uniform": Column("Most for the first token", NATS, "The most that it could be.", "is longer", False),
        "last": Column("Entropy of the last token", NATS, "How broadly the last token looks.", "looks more broadly"),
        "last_uniform": Column("Most for the last token", NATS, "The most that it could be.", "is longer", False),
    },
    "distance": {
        "distance": Column(
            "Distance", TOKENS, "How many tokens away the head looks, on average.", "looks further away", positional=True
        )
    },
    "maximum": {
        "maximum": Column("Strongest pair of a row", SHARE, "The largest score of a row, on average.", "is more decided")
    },
    "mean_score": {
        "mean_score": Column("Mean of all pairs", LENGTH, "The mean score of a pair of tokens.", "gives more"),
        "pairs": Column("Pairs", COUNT, "How many pairs were counted.", "was counted more", False),
    },
    "strength": {
        "strength": Column("Strength", LENGTH, "The sum of a row: by weight 1, by norm what the head adds.", "adds more")
    },
    "dispersion": {
        "mean": Column("Mean length of f(x)", LENGTH, "How long the vector is that a token offers.", "has longer vectors"),
        "deviation": Column("Deviation of f(x)", LENGTH, "How much that length differs between tokens.", "differs more"),
        "cv": Column("Variation of f(x)", RATIO, "The deviation as a part of the mean.", "differs more"),
        "largest": Column("Longest f(x)", LENGTH, "The longest vector met.", "has longer ones", False),
        "smallest": Column("Shortest f(x)", LENGTH, "The shortest vector met.", "has no short ones", False),
        "vectors": Column("Vectors", COUNT, "How many vectors were met.", "met more", False),
    },
    "variability": {
        "variability": Column("Variability", SHARE, "How much the head's map depends on the text.", "follows the text more")
    },
    "dependencies": {
        "attending_is_parent": _share("From a head word to its dependent", f"{_ALL} a dependent", "follows syntax more"),
        "attended_is_parent": _share("From a dependent to its head word", f"{_ALL} the head word", "follows syntax more"),
        "either": _share("Between syntactically related words", f"{_ALL} a related word", "follows syntax more"),
        "total": Column("Attention counted", COUNT, "How much attention was counted.", "was counted more", False),
    },
    "antecedents": {
        "all": Column("Antecedents found", ACCURACY, "How often a mention looks most at its antecedent.", "finds more"),
        "pronoun": Column("Antecedents of pronouns", ACCURACY, "The same for pronouns.", "finds more"),
        "proper": Column("Antecedents of names", ACCURACY, "The same for names.", "finds more"),
        "nominal": Column("Antecedents of other nouns", ACCURACY, "The same for other nouns.", "finds more"),
    },
    "relations": {
        "accuracy": Column(
            "Accuracy", ACCURACY, "How often the most-attended word is the right one.", "is right more often"
        ),
        "baseline": Column("Baseline", ACCURACY, "How often the word at the best fixed offset is.", "is easier", False),
        "cases": Column("Cases", COUNT, "How many pairs of words have the relation.", "is more frequent", False),
    },
    "jensen_shannon": {
        "divergence": Column("Jensen-Shannon divergence", NATS, "How differently two heads look.", "looks more differently"),
        "total": Column("Sum of divergences", NATS, "The same, summed over all rows.", "looks more differently", False),
    },
    "repeats": {
        "previous": Column("Previous random token, of all", SHARE, f"{_RANDOM} the token before.", "looks there more"),
        "duplicate": Column(
            "Duplicate token, of all", SHARE, f"{_RANDOM} the earlier copy of the same token.", "finds copies"
        ),
        "induction": Column(
            "Induction, of all", SHARE, f"{_RANDOM} the token that followed the earlier copy.", "predicts by copying"
        ),
        "previous_norm": Column(
            "Previous random token, of all, by norm", SHARE, f"{_RANDOM} the token before.", "takes more there"
        ),
        "duplicate_norm": Column(
            "Duplicate token, of all, by norm", SHARE, f"{_RANDOM} the earlier copy.", "takes more there"
        ),
        "induction_norm": Column(
            "Induction, of all, by norm", SHARE, f"{_RANDOM} what followed the copy.", "takes more there"
        ),
        "sinks": Column("Sinks among random tokens", SHARE, f"{_RANDOM} special tokens or the first.", "parks more"),
        "chance": Column(
            "Chance of one place", SHARE, "What one place gets from looking at all alike.", "is shorter", False
        ),
        "duplicate_unrepeated": Column(
            "Duplicate place without a copy", SHARE, "The same place where the second half is new.", "goes by place", False
        ),
        "induction_unrepeated": Column(
            "Induction place without a copy", SHARE, "The same place where the second half is new.", "goes by place", False
        ),
    },
    "alignment_errors": {
        "aer": Column("Alignment error rate", RATIO, "How far word links by this head are from gold links.", "is worse"),
        "precision": Column("Precision of links", ACCURACY, "How many of its links are right.", "is right more often"),
        "recall": Column("Recall of links", ACCURACY, "How many sure gold links it finds.", "finds more"),
    },
}

_OF_CATEGORIES = {
    "weight_": (SHARE, "Weight on {}", "The head's attention weight that goes to {}.", "looks there more"),
    "share_norm_": (SHARE, "Norm from {}", "The part of what the head adds that comes from {}.", "takes more there"),
    "value_norm_": (LENGTH, "Length of f(x) of {}", "How long the vectors are that {} offer.", "they offer more"),
    "norm_": (LENGTH, "Sum of norms from {}", "How much the head adds that comes from {}.", "takes more there"),
}
_LABELS = {
    "stack": "Encoder or decoder",
    "kind": "Self attention, or cross attention from decoder to encoder",
    "layer": "Layer, from 0",
    "head": "Head, from 0",
    "other_layer": "Layer of the other head",
    "other_head": "The other head",
    "relation": "Syntactic relation",
    "direction": "Which of the two words looks",
    "tag": "Part of speech",
    "rank": "Place, the strongest first",
}


def describe(table: str, column: str) -> Column | None:
    """What is known of a column; None for one that has no description.

    >>> describe("beyond_sinks_norm", "previous").title
    'Previous token, by norm'
    """
    name = parse(table)
    if name is None or column in _LABELS:
        return None
    for ending, which in (("_low", "lower"), ("_high", "upper")):
        of = describe(table, column.removesuffix(ending)) if column.endswith(ending) else None
        if of is not None:
            about = f"The {which} end of the 95 % interval: {of.about[0].lower()}{of.about[1:]}"
            return replace(of, title=f"{of.title}, {which} end", about=about, of_heads=False)
    found = COLUMNS.get(name.statistic, {}).get(column) or _dynamic(name.statistic, column)
    if found is None:
        return None
    unit = LENGTH if name.statistic == "maximum" and name.measure != "weight" else found.unit
    return replace(found, title=f"{found.title}{name.qualified}", unit=unit)


def _dynamic(statistic: str, column: str) -> Column | None:
    """Columns that are named after what a text has in it."""
    if statistic == "special_tokens":
        return _share(f"On {column}", f"{_ALL} {column}", "looks there more")
    if statistic == "offsets" and column.startswith("offset_"):
        offset = column.removeprefix("offset_")
        return _place(f"Offset {offset}", f"{_ALL} the token {offset} places on", "looks there more")
    if statistic == "dependencies" and column.endswith("_baseline"):
        of = COLUMNS[statistic].get(column.removesuffix("_baseline"))
        about = "What looking at all tokens in sight alike would give."
        return None if of is None else replace(of, title=f"{of.title}, by chance", about=about, of_heads=False)
    if statistic == "category_weights":
        for prefix, (unit, title, about, more) in _OF_CATEGORIES.items():
            if column.startswith(prefix):
                category = column.removeprefix(prefix)
                label = CATEGORIES.get(category, category)
                return Column(title.format(label), unit, about.format(label), more)
    return None


def column_title(table: str, column: str) -> str:
    """A column's title; its own name, made readable, where nothing is known of it."""
    if column in _LABELS:
        return column.replace("_", " ").capitalize()
    found = describe(table, column)
    return found.title if found is not None else column.replace("_", " ")


def column_about(table: str, column: str) -> str:
    """One line that explains a column; empty where nothing is known of it."""
    if column in _LABELS:
        return f"{_LABELS[column]}."
    found = describe(table, column)
    return found.about if found is not None else ""


def table_title(table: str) -> str:
    """A table's title: the statistic's name, with its measure and level; a paper's own name as it is."""
    name = parse(table)
    return table if name is None else f"{name.statistic.replace('_', ' ').capitalize()}{name.qualified}"


def table_about(table: str) -> str:
    """What a table's statistic counts, in one line; empty for a paper's."""
    name = parse(table)
    known = name is not None and name.statistic in STATISTICS
    return STATISTICS[name.statistic].about if known and name is not None else ""
