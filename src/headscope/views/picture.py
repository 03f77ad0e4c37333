"""The picture of a reading where notebooks show it: the head that says most about the text, as it would be printed."""

from base64 import b64encode
from dataclasses import replace
from html import escape

from headscope.lens.reading import Reading
from headscope.views.print import figure_bytes
from headscope.views.show import view_of
from headscope.views.view import View

LINES = 32  # tokens: more lines are a map
MOST = 1024  # tokens: of a longer text there is no picture that fits


def picture_of(reading: Reading) -> str:
    """An image with the head that a view opens with; cross attention where there is a target. Empty where none fits."""
    kind = "cross" if reading.batch.targets else "self"
    longest = max(len(reading.query_tokens(kind)), len(reading.key_tokens(kind)))
    if longest > MOST:
        return ""
    view = view_of("head" if longest <= LINES else "matrix", reading, measures=["weight"])
    layer, heads = view.fitted.layer, view.fitted.heads
    if heads is None:  # none says anything
        return ""
    best = View(view.content, replace(view.state, layer=layer, heads=heads[:1]))  # more lines make large notebooks
    drawn = b64encode(figure_bytes(best.figure(), "svg")).decode("ascii")
    says = f"head {layer}.{heads[0]}: what it looks at in {view.content.title}"
    style = "background: white; border-radius: 4px; max-width: 100%; max-height: 480px"
    return f'<img src="data:image/svg+xml;base64,{drawn}" alt="{escape(says)}" style="{style}">'
