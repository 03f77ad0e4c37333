"""Site: one attention of the model, in the order in which the model runs them."""

from dataclasses import dataclass

from headscope.errors import InputError
from headscope.lens.in_notebook import site_html


@dataclass(frozen=True)
class Site:
    """One attention: where it sits, how many heads it has, and how the lens reads it."""

    index: int
    stack: str  # "encoder" | "decoder"
    kind: str  # "self" | "cross"
    layer: int
    heads: int
    key_value_heads: int = 0
    head_size: int = 0
    module: str = ""
    capture: str = "interface"  # "interface" | "functions" | "values": which of the ways in
    projection: str | None = None  # dotted name of W_O
    why_no_norms: str | None = None  # one clause, where only the weights can be had
    residual: bool = False  # whether it is known how its output joins the residual stream
    gated: bool = False  # whether a factor of each row's own stands between the heads and W_O: a gate, or a norm

    @property
    def group(self) -> str:
        """`decoder cross`: attentions that are shown together, layer by layer."""
        return f"{self.stack} {self.kind}"

    @property
    def has_norms(self) -> bool:
        """Whether ||alpha f(x)|| can be had."""
        return self.projection is not None

    @property
    def has_value_norms(self) -> bool:
        """Whether ||alpha f(x)|| is alpha times a number of the key: behind a gate, f is each row's own."""
        return self.has_norms and not self.gated

    @property
    def name(self) -> str:
        """A name for messages: `decoder cross layer 3`."""
        return f"{self.group} layer {self.layer}"

    def _repr_html_(self) -> str:
        return site_html(self)


def attention_named(name: str) -> tuple[str | None, str]:
    """(stack, kind) of what people call an attention; no stack where they name none.

    >>> attention_named("decoder cross"), attention_named("self")
    (('decoder', 'cross'), (None, 'self'))
    """
    *stack, kind = name.split() or [""]
    if kind not in ("self", "cross") or stack not in ([], ["encoder"], ["decoder"]):
        raise InputError(f"There is no attention {name!r}: write self or cross, alone or after encoder or decoder.")
    return stack[0] if stack else None, kind


def layer_numbers(module_names: list[str]) -> list[int]:
    """Layer numbers for the sites of one stack and kind, in the order they run.

    The model's own numbers where its module names carry them (hybrid models attend in some layers
    only); else the order of the calls (ALBERT runs one module once per layer).

    >>> layer_numbers(["model.layers.1.attn", "model.layers.3.attn"])
    [1, 3]
    >>> layer_numbers(["groups.0.attn", "groups.0.attn"])
    [0, 1]
    """
    own = [next((int(part) for part in name.split(".") if part.isdigit()), -1) for name in module_names]
    return own if -1 not in own and own == sorted(set(own)) else list(range(len(own)))
