"""The numbers that vig2019 prints. Layers and heads count from 0 there, as here."""

from __future__ import annotations

MODEL = "GPT-2 small"
TEXT = "10,000 sentences of English Wikipedia, annotated by spaCy"
TITLE = "Analyzing the structure of attention in a Transformer language model (Vig and Belinkov, 2019)"

NULL_ATTENTION = "57 % on average; some heads over 97 %"
NOUNS = "43 % in 9.0; mean 21 %"
TAGS_TO = "13 of 16"
TAGS_FROM = "7 of 16"
ALIGNMENT_PEAK = "the middle layers"
ALIGNMENT_BEST = "0.42 (4.11)"
DISTANCE_DEVIATION = "3.6"
DISTANCE_LONGEST = "14.2 (5.1)"
DISTANCE_ENTROPY = "r = 0.61, p < 0.001"
DISTANCE_ALIGNMENT = "r = -0.73, p < 0.001"
PROBABILITY = "0.42 at 1, 0.07 at 5, 0.02 at 10"
MEAN_LENGTH = "3.89"
LEAST_VARIABILITY = "0.004 (4.11)"
