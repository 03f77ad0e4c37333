"""Colours of heads and of scores on white paper, which every kind of colour vision can tell apart."""

from __future__ import annotations

from matplotlib.colors import Colormap, LinearSegmentedColormap, to_hex, to_rgb

from headscope.colours import BLUE, PALETTE, VERMILION

# From nothing to most, by lightness, so that it also reads in grey.
SCORES: Colormap = LinearSegmentedColormap.from_list("scores", ["#FFFFFF", "#BFD9EB", "#5FA4D0", BLUE, "#00283F"])
# Below and above zero: vig2019, figure 3, has orange and blue.
SIGNED: Colormap = LinearSegmentedColormap.from_list(
    "signed", ["#6B2E00", VERMILION, "#F7B27F", "#FFFFFF", "#7FB8DC", BLUE, "#00283F"]
)


def head_colour(place: int) -> str:
    """The colour of a head by its place in its layer: Okabe and Ito's, then the same darker, then lighter.

    >>> head_colour(0), head_colour(7) != head_colour(0), head_colour(21) == head_colour(0)
    ('#0072B2', True, True)
    """
    colour, turn = PALETTE[place % len(PALETTE)], place // len(PALETTE) % 3
    if turn == 0:
        return colour
    towards = 0.0 if turn == 1 else 1.0
    red, green, blue = (0.55 * part + 0.45 * towards for part in to_rgb(colour))
    return to_hex((red, green, blue))
