"""One HTML file with everything in it: the bundle, the style, the data; and a policy that lets it load nothing else."""

import base64
import hashlib
import html
import json
from functools import cache
from importlib.resources import files
from typing import Any

from headscope.views.pack import Packed
from headscope.views.schema import LogitParts


def page(kind: str, title: str, description: dict[str, Any], chunks: list[str], *, connect: str = "'none'") -> str:
    """The page `kind` (view, report, live) that the bundle draws of a description and its chunks.

    `connect` is where it may fetch from: nowhere, or the server that it came from ('self').
    """
    script, style = asset("headscope.js"), asset("headscope.css")
    data = "".join(
        f'<script type="text/plain" class="chunk" id="chunk-{number}">{chunk}</script>\n'
        for number, chunk in enumerate(chunks)
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy(script, style, connect)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="generator" content="headscope">\n<meta name="referrer" content="no-referrer">\n'
        f"<title>{html.escape(title)}</title>\n"
        f"<style>{style}</style>\n</head>\n<body>\n"
        '<div id="app"><noscript>This page draws with JavaScript: please allow it for this file.</noscript></div>\n'
        f'<script type="application/json" id="page">{in_script({**description, "kind": kind})}</script>\n'
        f"{data}<script>{script}</script>\n</body>\n</html>\n"
    )


def view_page(packed: Packed, fragment: str = "", logits: LogitParts | None = None) -> str:
    """A page with the four views of one text; above them a logit's parts, where the views show them."""
    shown = packed.description["title"], packed.description["model"], "headscope"
    more: dict[str, Any] = {"state": fragment} if logits is None else {"state": fragment, "logits": logits}
    return page("view", " · ".join(part for part in shown if part), {**packed.description, **more}, packed.chunks)


def policy(script: str, style: str, connect: str = "'none'") -> str:
    """Only the bundle and the style of this very file may run; nothing is fetched from anywhere."""
    return (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data: blob:; "
        f"connect-src {connect}; base-uri 'none'; form-action 'none'"
    )


def in_script(description: dict[str, Any]) -> str:
    """JSON that cannot end the script element it stands in, whatever the tokens are.

    >>> in_script({"token": "</script>"})
    '{"token":"\\\\u003c/script>"}'
    """
    written = json.dumps(description, separators=(",", ":"), allow_nan=False)
    return written.replace("<", "\\u003c").replace("\u2028", "\\u2028")


@cache
def asset(name: str) -> str:
    """A file that the front end was built into (see web/)."""
    return files("headscope.views").joinpath("assets", name).read_text("utf-8").strip()


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
