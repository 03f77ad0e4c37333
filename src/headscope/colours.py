"""The colours of every figure and page: Okabe and Ito's palette, which every kind of colour vision can tell apart.

Pages get these with web/src/schema.ts, which web/make_schema.py makes.
"""

BLUE, ORANGE, GREEN, PINK, SKY, VERMILION, YELLOW = (
    "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442",
)  # fmt: skip
PALETTE = (BLUE, VERMILION, GREEN, ORANGE, PINK, SKY, YELLOW)
INK, FAINT, PALE = "#1B2733", "#5F6B76", "#DADDE1"
COLUMN = 3.4  # inches: a column of a two-column paper

# Heads by their place in a layer. A thin yellow line is not seen on white: two other colours, then all of them darker.
HEADS = (
    *PALETTE[:6], "#8C6BB1", "#7F7F00",
    "#00429D", "#A23B00", "#00664A", "#A87400", "#93537A", "#2B83BA", "#5E3C99", "#595900",
)  # fmt: skip
HEADS_DARK = (  # the same, on a dark page
    "#4BA3DB", "#F2803B", "#2FC79A", "#F0B84A", "#E39AC2", "#8AD0F5", "#B79BDA", "#C2C24A",
    "#7C9BFF", "#E0703A", "#4FB795", "#D9A441", "#C98AB0", "#6FB7E3", "#9C7FD1", "#A3A33F",
)  # fmt: skip

# Scores from nothing to most, by lightness, so that it also reads in grey; below and above zero as in vig2019, figure 3.
SCORES = ("#FFFFFF", "#BFD9EB", "#5FA4D0", BLUE, "#00283F")
BELOW = ("#FFFFFF", "#F7B27F", VERMILION, "#6B2E00")
ABOVE = ("#FFFFFF", "#7FB8DC", BLUE, "#00283F")


def head_colour(place: int) -> str:
    """The colour of a head by its place in its layer.

    >>> head_colour(0), head_colour(8) != head_colour(0), head_colour(16) == head_colour(0)
    ('#0072B2', True, True)
    """
    return HEADS[place % len(HEADS)]
