"""Section 5 of kobayashi2020: word alignments out of a translation model."""
