"""Sections 3.1 to 3.3: where heads look on the surface, and how broadly (figures 1, 2 and 4)."""

from __future__ import annotations

import pandas as pd

from headscope.heads.patterns import HALF, NONE, name_patterns
from headscope.lens.head import HEAD
from headscope.lens.lens import Lens
from headscope.papers.clark2019 import surface_figures
from headscope.statistics import (
    Entropy,
    EntropyEnds,
    FirstToken,
    Maximum,
    Offsets,
    Punctuation,
    Separators,
    SpecialTokens,
    Statistic,
)
from headscope.study import Run
from headscope.study.results.result import Claim, Result
from headscope.study.results.workspace import own_heads
from headscope.text import Document

PATTERNS = ["previous token", "next token", "current token", "first token", "separator", "period or comma"]


def statistics(measure: str) -> list[Statistic]:
    """What sections 3.1 to 3.3 count."""
    each = (Offsets, FirstToken, SpecialTokens, Punctuation, Separators, Entropy, EntropyEnds, Maximum)
    return [statistic(measure=measure) for statistic in each]


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


def head_shares(run: Run, suffix: str = "") -> pd.DataFrame:
    """One row a head, with every share and entropy of section 3, out of the tables of a study."""

    def part(name: str, columns: dict[str, str]) -> pd.DataFrame:
        return own_heads(run[f"{name}{suffix}"])[list(columns)].rename(columns=columns)

    heads = own_heads(run[f"offsets{suffix}"])[HEAD]
    return pd.concat(
        [
            heads,
            part("offsets", {"same": "current token", "previous": "previous token", "next": "next token"}),
            part("first_token", {"first_token": "first token"}),
            part("separators", {"share": "separator", "from_separator": "from_separator", "from_others": "from_others"}),
            part("punctuation", {"period": "period", "comma": "comma"}),
            part("entropy", {"entropy": "entropy", "uniform": "uniform"}),
            part("entropy_ends", {name: f"{name}_token_entropy" for name in ("first", "last")}),
            part("entropy_ends", {f"{name}_uniform": f"{name}_token_uniform" for name in ("first", "last")}),
            part("maximum", {"maximum": "maximum"}),
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
    ends = "last" if (shares["stack"] == "decoder").all() else "first"
    of_ends = tokens.first if ends == "first" else "the last token"
    figure2 = shares[[*HEAD, "first token", "separator", "period or comma", "from_separator", "from_others"]]
    figure4 = shares[[*HEAD, "entropy", "uniform", f"{ends}_token_entropy", f"{ends}_token_uniform", "maximum"]]
    separator = tokens.separator or "separators"
    no_separators = () if tokens.separator else ("This model reads no separators, so figure 2 has no lower part.",)
    causal = (
        ("The first token of a decoder sees only itself, so the entropies are those of the last one instead.",)
        if ends == "last"
        else ()
    )
    return [
        Result(
            "clark2019_fig1",
            "Figure 1: heads that show a pattern",
            named,
            _pattern_table(named),
            surface_figures.patterns(named),
            [
                "A pattern has more than half of a head's attention; broad, at least 0.8 of the uniform entropy. Heads are "
                "layer-head from 1, as in the paper."
            ],
        ),
        Result(
            "clark2019_fig2",
            "Figure 2: attention to special tokens and punctuation",
            figure2,
            figure=surface_figures.figure2(figure2, tokens.first, separator),
            notes=[f"The first token is {tokens.first}; separators are {tokens.separator or 'none'}.", *no_separators],
        ),
        Result(
            "clark2019_fig4",
            "Figure 4: entropy of attention, of all tokens and of one",
            figure4,
            figure=surface_figures.figure4(figure4, ends, of_ends),
            notes=["Entropies are in nats, without the smoothing of the released code.", *causal],
        ),
    ]


def claims(shares: pd.DataFrame, tokens: EdgeTokens) -> list[Claim]:
    """The numbers in the text of section 3, and this run's."""
    layers = shares.groupby("layer")
    separators = layers["separator"].mean()
    most = separators[separators > HALF].index + 1
    to_itself = layers["from_separator"].mean()
    ends = "last" if (shares["stack"] == "decoder").all() else "first"
    by_layer = layers[f"{ends}_token_entropy"].mean()
    previous, following = _over(shares, "previous token"), _over(shares, "next token")
    broadest = _highest(layers["entropy"].mean())
    return [
        Claim("3.1", "heads with over half on the previous token (their layers)", "4 (2 4 7 8)", previous),
        Claim("3.1", "heads with over half on the next token (their layers)", "5 (1 2 2 3 6)", following),
        Claim("3.1", "mean share on the current token", "little", f"{shares['current token'].mean():.3f}"),
        Claim("3.2", f"layers with over half on {tokens.separator or 'separators'}", "6 to 10", _list(most) or "none"),
        Claim(
            "3.2",
            "most that the separators' own rows give to separators, mean of a layer (layer)",
            "over 0.90 (6 to 10)",
            "no separators" if to_itself.isna().all() else f"{to_itself.max():.2f} ({to_itself.idxmax() + 1})",
        ),
        Claim(
            "3.3",
            f"entropy of {tokens.first if ends == 'first' else 'the last token'} in the last layer, in nats",
            "3.89",
            f"{by_layer.iloc[-1]:.2f}",
        ),
        Claim("3.3", "highest mean entropy of a layer, in nats (layer)", "the first layer", broadest),
    ]


def _over(shares: pd.DataFrame, column: str) -> str:
    found = shares[shares[column] > HALF]
    return f"{len(found)} ({_list(found['layer'] + 1)})" if len(found) else "0"


def _list(numbers: pd.Index | pd.Series) -> str:
    return " ".join(str(number) for number in numbers)


def _highest(by_layer: pd.Series) -> str:
    return f"{by_layer.max():.2f} ({by_layer.idxmax() + 1})"


def _pattern_table(named: pd.DataFrame) -> pd.DataFrame:
    found = named[named["pattern"] != NONE].sort_values(["pattern", "share"], ascending=[True, False])
    heads = (found["layer"] + 1).astype(str) + "-" + (found["head"] + 1).astype(str)
    return pd.DataFrame({"pattern": found["pattern"], "head": heads, "share": found["share"].round(3)})
