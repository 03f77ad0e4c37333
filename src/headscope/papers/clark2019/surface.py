"""Section 3: where heads look on the surface, how broadly, and how much the loss depends on it (figures 1 to 4)."""

from __future__ import annotations

from headscope.heads.patterns import NONE, name_patterns
from headscope.later import pd
from headscope.lens.head import HEAD
from headscope.lens.lens import Lens
from headscope.papers.clark2019 import drawings
from headscope.statistics import STATISTICS, Statistic
from headscope.statistics.kit.text_means import Averaged
from headscope.study import Run
from headscope.study.results.result import Result, paper_label
from headscope.study.tables import main_stack
from headscope.text import Document

PATTERNS = ["previous token", "next token", "current token", "first token", "separator", "period or comma"]


def one_pass(measure: str, means: str = "rows") -> list[Statistic]:
    """What sections 3.1 to 3.3 count."""
    names = "offsets", "first_token", "special_tokens", "punctuation", "separators", "entropy", "entropy_ends", "maximum"
    return [_counted(name, measure, means) for name in names]


def _counted(name: str, measure: str, means: str) -> Statistic:
    """Entropies of the ends of texts are means of texts in any case."""
    cls = STATISTICS[name]
    return cls(measure=measure, means=means) if issubclass(cls, Averaged) else cls(measure=measure)


class EdgeTokens:
    """What this model has in the place of [CLS] and [SEP]: the first token, and the special tokens that end a text."""

    def __init__(self, lens: Lens) -> None:
        source = lens.encoder.encode(Document("a")).source
        self.first = source.tokens[0] if source.special[0] else "first token"
        pairs = zip(source.tokens, source.special, strict=True)
        self.separators = list(dict.fromkeys(token for token, special in pairs if special and token != source.tokens[0]))

    @property
    def separator(self) -> str:
        """All of them in a label; empty where a model has none."""
        return " ".join(self.separators)


def head_shares(run: Run, measure: str, means: str = "rows") -> pd.DataFrame:
    """One row a head, with every share and entropy of section 3, out of the tables of a study."""

    def part(name: str, **columns: str) -> pd.DataFrame:
        return main_stack(run[_counted(name, measure, means)])[list(columns)].rename(columns=columns)

    return pd.concat(
        [
            part("offsets", **dict(zip(HEAD, HEAD, strict=True))),
            part("offsets", same="current token", previous="previous token", next="next token"),
            part("first_token", first_token="first token"),
            part("separators", share="separator", from_separator="from_separator", from_others="from_others"),
            part("punctuation", period="period", comma="comma"),
            part("entropy", entropy="entropy", uniform="uniform"),
            part("entropy_ends", first="first_token_entropy", last="last_token_entropy"),
            part("entropy_ends", first_uniform="first_token_uniform", last_uniform="last_token_uniform"),
            part("maximum", maximum="maximum"),
        ],
        axis=1,
    ).assign(**{"period or comma": lambda table: table["period"] + table["comma"]})


def patterns(shares: pd.DataFrame) -> pd.DataFrame:
    """Which heads attend to the next token, to separators, broadly, and so on: figure 1's patterns."""
    breadth = shares["entropy"] / shares["uniform"]
    named = name_patterns(shares[PATTERNS], breadth)
    return pd.concat([shares[HEAD], named, shares[PATTERNS].assign(breadth=breadth)], axis=1)


def results(shares: pd.DataFrame, tokens: EdgeTokens) -> list[Result]:
    """Figures 1, 2 and 4."""
    named = patterns(shares)
    ends = end_of(shares)
    of_ends = tokens.first if ends == "first" else "the last token"
    figure2 = shares[[*HEAD, "first token", "separator", "period or comma", "from_separator", "from_others"]]
    figure4 = shares[[*HEAD, "entropy", "uniform", f"{ends}_token_entropy", f"{ends}_token_uniform", "maximum"]]
    separator = tokens.separator or "separators"
    no_separators = () if tokens.separator else ("This model reads no separators, so figure 2 has no lower part.",)
    causal = "The first token of a decoder sees only itself, so the entropies are those of the last one instead."
    notes1 = [
        "A pattern has more than half of a head's attention; broad, at least 0.8 of the uniform entropy. Heads are "
        "layer-head from 1, as in the paper."
    ]
    counted = "Printed heads are layer-head from 1, as in the paper."
    notes2 = [f"The first token is {tokens.first}; separators are {tokens.separator or 'none'}. {counted}", *no_separators]
    notes4 = [
        f"Entropies are in nats, without the smoothing of the released code. {counted}",
        *([causal] if ends == "last" else []),
    ]
    title1 = "Figure 1: heads that show a pattern"
    title2 = "Figure 2: attention to special tokens and punctuation"
    title4 = "Figure 4: entropy of attention, of all tokens and of one"
    picture2, picture4 = drawings.figure2(figure2, tokens.first, separator), drawings.figure4(figure4, ends, of_ends)
    return [
        Result("clark2019_fig1", title1, named, _pattern_table(named), drawings.patterns(named), notes1),
        Result("clark2019_fig2", title2, figure2, _from_one(figure2), picture2, notes2),
        Result("clark2019_fig4", title4, figure4, _from_one(figure4), picture4, notes4),
    ]


def end_of(shares: pd.DataFrame) -> str:
    """Which token's own entropy is told, first or last: a decoder's first token sees only itself."""
    return "last" if (shares["stack"] == "decoder").all() else "first"


def _pattern_table(named: pd.DataFrame) -> pd.DataFrame:
    found = named[named["pattern"] != NONE].sort_values(["pattern", "share"], ascending=[True, False])
    return _from_one(found)[["pattern", "head", "share"]].round({"share": 3})


def _from_one(table: pd.DataFrame) -> pd.DataFrame:
    """A table with one row a head, as the paper counts them."""
    labels = [paper_label(layer, head) for layer, head in zip(table["layer"], table["head"], strict=True)]
    shown = table.drop(columns=HEAD)
    shown.insert(0, "head", labels)
    return shown


def figure3(importance: pd.DataFrame, tokens: EdgeTokens) -> Result:
    """Figure 3 out of an `importance` table: the mean of each layer's heads."""
    table = main_stack(importance)
    separators = [token for token in tokens.separators if token in table]
    lines = {"all unmasked tokens": "unmasked"} | {token: token for token in separators}
    if not separators:
        lines["first token"] = "first_token"
    lines[". or ,"] = "punctuation"
    columns = list(dict.fromkeys(lines.values()))
    by_layer = table.groupby("layer")[columns].mean().reset_index()
    shown = by_layer.assign(layer=by_layer["layer"] + 1).rename(columns={name: label for label, name in lines.items()})
    notes = [
        "The mean over pairs of |dL/dα|, where L is a text's mean loss over the tokens to predict; the paper does not "
        "say what its average runs over, so shapes can be compared, and heights cannot. Layers count from 1 here."
    ]
    title = "Figure 3: gradients of the loss by attention"
    return Result("clark2019_fig3", title, table, shown, drawings.gradients(by_layer, lines), notes)
