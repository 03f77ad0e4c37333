"""The numbers that kobayashi2020 prints for BERT and for its translation models. Layers and heads count from 1 there."""

from headscope.papers.printed import Printed

MODEL = "BERT-base"
TEXT = "992 pairs of Wikipedia paragraphs of at most 128 tokens"
TRANSLATOR = "a German-English Transformer with 4 heads"
PAIRS = "the German-English gold links of Vilar et al. (2006)"
TITLE = (
    "Attention is not only a weight: analyzing Transformers with vector norms (Kobayashi, Kuribayashi, Yokoi and Inui, 2020)"
)

_NO = float("nan")

# which, head, mean, deviation, coefficient of variation, largest, smallest of ||f(x)|| (table 1)
TABLE1 = Printed(
    [
        ("max CV", "2-4", 4.26, 1.59, 0.37, 12.66, 0.96),
        ("min CV", "2-7", 4.00, 0.50, 0.12, 6.15, 1.35),
        ("average", "", 5.15, 1.17, 0.22, _NO, _NO),
    ],
    columns=["which", "where", "mean", "deviation", "cv", "largest", "smallest"],
)

# the same of ||x|| for layers (table 4)
TABLE4 = Printed(
    [
        ("max CV", "12", 20.49, 4.62, 0.23, 32.84, 4.13),
        ("min CV", "7", 21.64, 1.40, 0.06, 23.03, 11.87),
        ("average", "", 19.93, 2.39, 0.12, _NO, _NO),
    ],
    columns=["which", "where", "mean", "deviation", "cv", "largest", "smallest"],
)

# category, pairs, Spearman's rho between alpha and ||f(x)|| (table 2)
TABLE2 = Printed(
    [
        ("first", 17_443_296, -0.34),
        ("separator", 34_886_592, -0.69),
        ("punctuation", 182_838_528, -0.25),
        ("other", 1_944_928_224, -0.06),
    ],
    columns=["category", "pairs", "rho"],
)

# tokens, Spearman's rho of the frequency rank with the weight and with the norm (section 4.3 and its footnote 12)
FREQUENCY = Printed([("all", 0.06, 0.75), ("without_special", 0.28, 0.69)], columns=["which", "weight", "norm"])

# setting, measure, which layer or head, AER and its deviation over five seeds with 4 heads (table 3) and with 8 (table 6)
ALIGNMENT = Printed(
    [
        ("AWO", "weight", "layer mean", 68.4, 1.0, 70.4, 0.6),
        ("AWO", "weight", "best layer", 47.7, 1.7, 49.3, 1.2),
        ("AWO", "norm", "layer mean", 62.9, 0.7, 63.2, 0.7),
        ("AWO", "norm", "best layer", 41.4, 1.4, 43.4, 0.8),
        ("AWO", "norm", "layer with the highest average norm", 83.0, 1.1, 83.7, 2.2),
        ("AWO", "norm", "head with the highest average norm", 87.1, 2.3, 87.2, 0.6),
        ("AWI", "weight", "layer mean", 68.5, 1.9, 76.6, 1.7),
        ("AWI", "weight", "best layer", 29.8, 3.7, 38.7, 8.9),
        ("AWI", "norm", "layer mean", 60.4, 1.3, 59.9, 1.0),
        ("AWI", "norm", "best layer", 25.0, 1.5, 26.3, 1.9),
        ("AWI", "norm", "layer with the highest average norm", 25.0, 1.5, 26.5, 1.9),
        ("AWI", "norm", "head with the highest average norm", 35.5, 21.0, 24.9, 1.7),
    ],
    columns=["setting", "measure", "which", "aer_4", "sd_4", "aer_8", "sd_8"],
)

# aligners that do not read attention: AER (table 3)
OTHER_ALIGNERS = {"SmoothGrad": 36.4, "fast_align": 28.4, "GIZA++": 21.0}

# setting, correlation of a head's average norm and its AER with 4 heads (section 5.3) and with 8 (appendix F)
NORM_AND_AER = Printed(
    [("AWI", -0.44, -0.52, -0.26, -0.50), ("AWO", 0.56, 0.55, 0.40, 0.40)],
    columns=["setting", "spearman_4", "pearson_4", "spearman_8", "pearson_8"],
)

SINGULAR_RATIO = 1.8  # between the largest and the smallest singular value of f, at least (appendix B)
