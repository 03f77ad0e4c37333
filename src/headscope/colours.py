"""The colours of every figure: Okabe and Ito's palette, which every kind of colour vision can tell apart."""

BLUE, ORANGE, GREEN, PINK, SKY, VERMILION, YELLOW = (
    "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442",
)  # fmt: skip
PALETTE = (BLUE, VERMILION, GREEN, ORANGE, PINK, SKY, YELLOW)
INK, FAINT, PALE = "#1B2733", "#5F6B76", "#DADDE1"
COLUMN = 3.4  # inches: a column of a two-column paper
