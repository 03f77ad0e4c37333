"""The attentions that read an annotated text, and nothing else."""

from collections.abc import Sequence

from headscope.lens.site import Site


def annotated_sites(sites: Sequence[Site]) -> list[Site]:
    """Self attention over the annotated text: an encoder-decoder's decoder reads the target."""
    encoders = [site for site in sites if site.stack == "encoder"]
    return [site for site in encoders or sites if site.kind == "self"]
