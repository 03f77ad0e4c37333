"""Views for print: SVG, PDF and PNG without a browser, with text that stays text, as wide as a column or a page."""

from headscope.views.print.drawing import draw, figure_bytes
from headscope.views.print.maps import attention_map, map_of
from headscope.views.print.panels import Panel, draw_panels
from headscope.views.print.shown import Shown

__all__ = ["Panel", "Shown", "attention_map", "draw", "draw_panels", "figure_bytes", "map_of"]
