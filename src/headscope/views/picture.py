"""The picture of a reading where notebooks show it: one head that says much about the text, as it would be printed."""

from base64 import b64encode
from html import escape

from headscope.lens.reading import Reading
from headscope.views.print import figure_bytes
from headscope.views.show import view_of

LINES = 32  # tokens: more lines are a map
MOST = 1024  # tokens: of a longer text there is no picture that fits


def picture_of(reading: Reading) -> str:
    """An image with the head that has the strongest link; cross attention where there is a target. Empty where none fits."""
    kind = "cross" if reading.batch.targets else "self"
    longest = max(len(reading.query_tokens(kind)), len(reading.key_tokens(kind)))
    top = reading.top(1, kind=kind, without_sinks=True)
    if longest > MOST or top.empty:
        return ""
    stack, layer, head = top.loc[0, ["stack", "layer", "head"]]
    view = view_of(
        "head" if longest <= LINES else "matrix", reading, measures=["weight"], only={int(layer): [int(head)]},
        attention=f"{stack} {kind}",
    )  # fmt: skip
    drawn = b64encode(figure_bytes(view.figure(), "svg")).decode("ascii")
    says = f"head {layer}.{head}: what it looks at in {view.content.title}"
    style = "background: white; border-radius: 4px; max-width: 100%; max-height: 480px"
    return f'<img src="data:image/svg+xml;base64,{drawn}" alt="{escape(says)}" style="{style}">'
