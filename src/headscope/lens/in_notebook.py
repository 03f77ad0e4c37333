"""A lens, a site and a reading as notebooks show them: small tables, and of a reading a picture that comes from above."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from headscope.html_table import html_table
from headscope.later import pd

if TYPE_CHECKING:
    from headscope.lens.lens import Lens
    from headscope.lens.reading import Reading
    from headscope.lens.site import Site


SHOWN = 4  # links


def lens_html(lens: Lens) -> str:
    """The model, and its attentions by kind."""
    most = f", at most {lens.max_tokens:,} tokens" if lens.max_tokens else ""
    dtype = str(lens.model.dtype).removeprefix("torch.")
    about = f"{type(lens.model).__name__}, {dtype} on {lens.device}{most}{' (closed)' if lens.closed else ''}"
    rows = [_group_row(group, sites) for group, sites in _groups(lens.sites).items()]
    below = "" if lens.closed else "lens.read(“A text.”) reads a text."
    return html_table(rows, ["attention", "layers", "heads", "size", "norms"], title=lens.name, about=about, below=below)


def site_html(site: Site) -> str:
    """Where it sits, and how the lens reads it."""
    facts = {
        "heads": _heads(site),
        "size of a head": site.head_size or "",
        "module": site.module,
        "read by": {"interface": "the attention interface", "functions": "the functions that it calls"}[site.capture],
        "W_O": site.projection or "",
        "norms": _norms(site),
        "residual connection": "found" if site.residual else "not found",
    }
    return html_table([(name, fact) for name, fact in facts.items() if fact != ""], title=site.name)


def reading_html(reading: Reading, picture: str) -> str:
    """The text and its tokens, the heads with the strongest links, a picture."""
    target = [("target", " ".join(reading.batch.targets[0].readable(reading.level)))] if reading.batch.targets else []
    texts = [(f"{reading.level}s", " ".join(reading.batch.sources[0].readable(reading.level))), *target]
    kinds = ", ".join(f"{group}: {len(sites)} layers" for group, sites in _groups(reading.sites).items())
    about = f"read by {reading.model}; {kinds}" if reading.model else kinds
    kind = "cross" if target else "self"
    return (
        html_table(texts, title="Reading", about=about)
        + picture
        + _links(reading.top(SHOWN, kind=kind, without_sinks=True), kind)
    )


def _links(top: pd.DataFrame, kind: str) -> str:
    rows = [
        (f"{row['layer']}.{row['head']}", f"{row['query_token']} → {row['key_token']}", f"{row['weight']:.2f}")
        for row in top.to_dict("records")
    ]
    asked = "" if kind == "self" else f", kind={kind!r}"
    more = f"reading.top(10{asked}, without_sinks=True) has more of these links"
    below = f"{more}, reading.view() the page, reading.to_frame() every score."
    return html_table(rows, ["head", f"strongest links beyond sinks, {kind} attention", "weight"], below=below)


def _groups(sites: Iterable[Site]) -> dict[str, list[Site]]:
    """By kind of attention, in the model's order."""
    groups: dict[str, list[Site]] = {}
    for site in sites:
        groups.setdefault(f"{site.stack} {site.kind}", []).append(site)
    return groups


def _group_row(group: str, sites: list[Site]) -> list[str]:
    layers = [site.layer for site in sites]
    in_order = layers == list(range(layers[0], layers[-1] + 1)) and len(layers) > 1
    numbers = f"{layers[0]} to {layers[-1]}" if in_order else ", ".join(map(str, layers))
    each = (dict.fromkeys(one(site) for site in sites) for one in (_heads, lambda site: str(site.head_size or ""), _norms))
    return [group, numbers, *(" or ".join(some) for some in each)]


def _heads(site: Site) -> str:
    shared = site.key_value_heads and site.key_value_heads != site.heads
    return f"{site.heads} ({site.key_value_heads} for keys and values)" if shared else str(site.heads)


def _norms(site: Site) -> str:
    return "yes" if site.why_no_norms is None else f"no, because {site.why_no_norms}"
