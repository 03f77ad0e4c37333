"""The numbers that kobayashi2020 prints for BERT. Layers and heads count from 1 there."""

from __future__ import annotations

import pandas as pd

MODEL = "BERT-base"
TEXT = "992 pairs of Wikipedia paragraphs of at most 128 tokens"
TITLE = (
    "Attention is not only a weight: analyzing Transformers with vector norms (Kobayashi, Kuribayashi, Yokoi and Inui, 2020)"
)

_NO = float("nan")

# which, head, mean, deviation, coefficient of variation, largest, smallest of ||f(x)|| (table 1)
_TABLE1 = [
    ("max CV", "2-4", 4.26, 1.59, 0.37, 12.66, 0.96),
    ("min CV", "2-7", 4.00, 0.50, 0.12, 6.15, 1.35),
    ("average", "", 5.15, 1.17, 0.22, _NO, _NO),
]

# the same of ||x|| for layers (table 4)
_TABLE4 = [
    ("max CV", "12", 20.49, 4.62, 0.23, 32.84, 4.13),
    ("min CV", "7", 21.64, 1.40, 0.06, 23.03, 11.87),
    ("average", "", 19.93, 2.39, 0.12, _NO, _NO),
]

# category, pairs, Spearman's rho between alpha and ||f(x)|| (table 2)
_TABLE2 = [
    ("first", 17_443_296, -0.34),
    ("separator", 34_886_592, -0.69),
    ("punctuation", 182_838_528, -0.25),
    ("other", 1_944_928_224, -0.06),
]

# tokens, Spearman's rho of the frequency rank with the weight and with the norm (section 4.3 and its footnote 12)
_FREQUENCY = [("all", 0.06, 0.75), ("without_special", 0.28, 0.69)]

SINGULAR_RATIO = 1.8  # between the largest and the smallest singular value of f, at least (appendix B)


def table1() -> pd.DataFrame:
    return pd.DataFrame(_TABLE1, columns=["which", "where", "mean", "deviation", "cv", "largest", "smallest"])


def table2() -> pd.DataFrame:
    return pd.DataFrame(_TABLE2, columns=["category", "pairs", "rho"])


def table4() -> pd.DataFrame:
    return pd.DataFrame(_TABLE4, columns=["which", "where", "mean", "deviation", "cv", "largest", "smallest"])


def frequency() -> pd.DataFrame:
    return pd.DataFrame(_FREQUENCY, columns=["which", "weight", "norm"])
