"""Colours of scores on white paper, as matplotlib's maps."""

from __future__ import annotations

from matplotlib.colors import Colormap, LinearSegmentedColormap

from headscope import colours

SCORES: Colormap = LinearSegmentedColormap.from_list("scores", colours.SCORES)
SIGNED: Colormap = LinearSegmentedColormap.from_list("signed", [*reversed(colours.BELOW), *colours.ABOVE[1:]])
