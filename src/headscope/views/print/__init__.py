"""Views for print: SVG, PDF and PNG without a browser, with text that stays text, as wide as a column or a page."""

from headscope.views.print.drawing import draw, figure_bytes
from headscope.views.print.words import attention_map

__all__ = ["attention_map", "draw", "figure_bytes"]
