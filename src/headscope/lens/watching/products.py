"""The queries and keys behind a softmax, found by following the data: what goes into it was a product of the two.

Between the product and the softmax a model scales, masks, casts, reshapes and adds positions. Inside an attention module,
every tensor is therefore known by the products that it was made of. Only the products' operands are held, never a map.
"""

import weakref
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

MATRIX_PRODUCTS = {torch.matmul, torch.bmm, Tensor.matmul, Tensor.bmm, Tensor.__matmul__}
_ADDED_PRODUCTS = {torch.baddbmm, Tensor.baddbmm, Tensor.baddbmm_}


@dataclass(frozen=True, eq=False)
class Product:
    """left @ right, or what the letters of an einsum say."""

    left: Tensor
    right: Tensor
    equation: str | None = None
    order: int = 0  # when it ran


class MadeOfProducts:
    """Which products a tensor was made of, in the order in which they ran."""

    def __init__(self) -> None:
        # By id; the reference tells whether the id is still that tensor's. Maps must not live longer than in the model.
        self._known: dict[int, tuple[weakref.ref[Tensor], tuple[Product, ...]]] = {}
        self._ran = 0

    def of(self, tensor: Any) -> tuple[Product, ...]:
        reference, products = self._known.get(id(tensor), (None, ()))
        return products if reference is not None and reference() is tensor else ()

    def follow(self, func: Any, args: Sequence[Any], kwargs: dict[str, Any], result: Any) -> None:
        """A function ran: its result is a product, or is made of what its arguments were made of."""
        self._ran += 1
        own = _product(func, args, kwargs, self._ran)
        products: tuple[Product, ...]
        if func is F.linear:
            products = ()  # it makes vectors, of which scores are yet to be made
        elif own is None:
            products = self._inherited((*args, *kwargs.values()))
        else:  # it starts anew: what its operands were made of is not added to q.k; but baddbmm adds
            products = (*self._inherited(args[:1] if func in _ADDED_PRODUCTS else ()), own)
        if products:
            for tensor in _tensors_in((result,)):
                if tensor.is_floating_point():
                    self._known[id(tensor)] = (weakref.ref(tensor), products)

    def clear(self) -> None:
        self._known.clear()

    def _inherited(self, arguments: Iterable[Any]) -> tuple[Product, ...]:
        found = {product for tensor in _tensors_in(arguments) for product in self.of(tensor)}
        return tuple(sorted(found, key=lambda product: product.order))


def queries_and_keys(
    products: Iterable[Product], batch: int, heads: int, queries: int, keys: int
) -> tuple[Tensor, Tensor] | tuple[None, None]:
    """(batch, head, query, d) and (batch, group, key, d): the operands of the first product that has these lengths.

    Where a model adds other products to it (of queries with positions, as DeBERTa and XLNet do), the first is the one of
    content with content.
    """
    for product in products:
        sides = _sides_of_einsum(product, batch) if product.equation else _sides_of_matrices(product, queries, keys)
        if sides is None:
            continue
        query, key = (_by_head(side, batch) for side in sides)
        if query is None or key is None:
            continue
        if query.shape[1:3] == (heads, queries) and key.shape[2] == keys and heads % key.shape[1] == 0:
            return query, key
    return None, None


def _product(func: Any, args: Sequence[Any], kwargs: dict[str, Any], order: int) -> Product | None:
    if func is torch.einsum:
        equation, operands = einsum_operands(args)
        return Product(operands[0], operands[1], equation, order) if len(operands) == 2 else None
    if func in MATRIX_PRODUCTS:
        given = (*args, *(kwargs[name] for name in ("other", "mat2") if name in kwargs))
    elif func in _ADDED_PRODUCTS:
        given = (*args[1:], *(kwargs[name] for name in ("batch1", "batch2") if name in kwargs))
    else:
        return None
    return Product(given[0], given[1], None, order) if len(given) == 2 and given[0].dim() > 2 else None


def einsum_operands(args: Sequence[Any]) -> tuple[str, Sequence[Tensor]]:
    """The equation without spaces, and the operands, however they were given."""
    equation, *operands = args
    return equation.replace(" ", ""), operands[0] if isinstance(operands[0], (list, tuple)) else operands


def _sides_of_matrices(product: Product, queries: int, keys: int) -> tuple[Tensor, Tensor] | None:
    """Queries and keys (..., length, d): q k^T, or k q^T where only that fits."""
    left, right = product.left, product.right.mT
    lengths = (left.shape[-2], right.shape[-2])
    if lengths == (queries, keys):
        return left, right
    return (right, left) if lengths == (keys, queries) else None


def _sides_of_einsum(product: Product, batch: int) -> tuple[Tensor, Tensor] | None:
    """Queries and keys (batch, head, length, d), from letters such as `ibnd,jbnd->bnij`: rows come before columns."""
    inputs, _, result = (product.equation or "").partition("->")
    left, _, right = inputs.partition(",")
    shared = sorted((letter for letter in left if letter in right and letter in result), key=result.index)
    size = [letter for letter in left if letter in right and letter not in result]
    lengths = [letter for letter in result if letter not in shared]
    if not (len(shared) == 2 and len(size) == 1 and len(lengths) == 2 and (lengths[0] in left) != (lengths[1] in left)):
        return None
    if dict(zip(left, product.left.shape, strict=True))[shared[0]] != batch:
        shared.reverse()
    sides = {True: (left, product.left), False: (right, product.right)}
    query, key = (
        torch.einsum(f"{letters}->{''.join(shared)}{length}{size[0]}", operand)
        for length in lengths
        for letters, operand in [sides[length in left]]
    )
    return query, key


def _by_head(vectors: Tensor, batch: int) -> Tensor | None:
    """(batch, head, length, d) from that, from (batch * head, length, d), or from heads in groups."""
    length, size = vectors.shape[-2:]
    first = vectors.shape[0]
    if vectors.dim() < 3 or (first != batch if vectors.dim() > 3 else first % batch):
        return None
    return vectors.detach().reshape(batch, -1, length, size)


def _tensors_in(arguments: Iterable[Any]) -> Iterator[Tensor]:
    for argument in arguments:
        if isinstance(argument, Tensor):
            yield argument
        elif isinstance(argument, (list, tuple)):
            yield from (one for one in argument if isinstance(one, Tensor))
