"""What W_O reads, heads apart: z_h(i) = sum_j alpha_ij v_j (behind a gate, where there is one), looked at or replaced.

Hooks exist only inside the context: before and after it the model is untouched, and so are its weights all the time.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from threading import get_ident
from typing import Any

from torch import Tensor, nn

from headscope.errors import ModelError
from headscope.lens.watching.contraction import seen_by_hooks
from headscope.lens.watching.places import Places
from headscope.lens.watching.projection import Projection
from headscope.lens.watching.trace import TracedSite

Where = Callable[[], tuple[Tensor, Tensor]]  # each row's place in its text, -1 at padding, and the length of that text
# Of z (batch, row, head, d_head), or (row, head, d_head) where the model keeps all rows in one line; None leaves it alone.
Change = Callable[[Tensor, Where], Tensor | None]


@contextmanager
def changed_heads(
    changes: Sequence[tuple[TracedSite, Change]],
    entries: Iterable[nn.Module],
    stacks: Mapping[str, nn.Module],
    thread: int | None = None,
) -> Iterator[None]:
    """Let each change see, and replace, what the W_O of its site is about to read.

    `entries` are the modules that begin a pass: one layer may serve several sites, which are told apart by its calls.
    `stacks` are those that begin the pass of a stack, and are given its mask. With a `thread`, its passes alone are changed,
    while others run the whole model; where a row stands can then not be asked.
    """
    places = Places(stacks)
    by_layer: dict[nn.Module, dict[int, list[tuple[TracedSite, Projection, Change]]]] = {}
    for found, change in changes:
        if found.projection is None or found.projection.shared:
            why = found.site.why_no_norms or "one is subtracted from another before the output projection reads them"
            raise ModelError(f"{found.site.name}: its heads cannot be taken away, because {why}.")
        calls_of = by_layer.setdefault(found.projection.module, {})
        calls_of.setdefault(found.projection.call, []).append((found, found.projection, change))
    of_how_many = {found.projection.module: found.projection.calls for found, _ in changes if found.projection is not None}
    calls: Counter[nn.Module] = Counter()

    def is_meant() -> bool:
        return thread is None or thread == get_ident()

    def begin(*_: object) -> None:
        if is_meant():
            calls.clear()

    def read(module: nn.Module, given: tuple[Any, ...]) -> tuple[Any, ...]:
        if not is_meant():
            return given
        here = by_layer[module].get(calls[module] % of_how_many[module], [])
        calls[module] += 1
        rows = given[0]
        for found, projection, change in here:
            rows = _changed(rows, projection, partial(_with_places, change, places, found.site.stack))
        return (rows, *given[1:])

    with ExitStack() as stack:
        for entry in entries:
            stack.callback(entry.register_forward_pre_hook(begin).remove)
        if thread is None:
            stack.enter_context(places.watch())
        stack.enter_context(seen_by_hooks(by_layer))
        for module in by_layer:
            stack.callback(module.register_forward_pre_hook(read).remove)
        yield


def _with_places(change: Change, places: Places, stack: str, z: Tensor) -> Tensor | None:
    return change(z, lambda: places.of(stack, z))


def _changed(given: Tensor, projection: Projection, change: Callable[[Tensor], Tensor | None]) -> Tensor:
    turned = (1, 2) if isinstance(projection.module, nn.Conv1d) else (0, 1) if projection.rows_first else (0, 0)
    rows = given.transpose(*turned)
    columns = projection.columns.flatten().to(given.device)
    apart = projection.gating is not None
    own = rows[..., columns] if apart else rows[..., projection.offset : projection.offset + len(columns)]
    new = change(own.unflatten(-1, (projection.heads, projection.head_size)))
    if new is None:
        return given
    flat = new.flatten(-2).to(given.dtype)
    if apart or flat.shape[-1] < rows.shape[-1]:  # ConvBERT's layer reads more than the heads
        flat = rows.index_copy(-1, columns, flat)
    return flat.transpose(*turned)
