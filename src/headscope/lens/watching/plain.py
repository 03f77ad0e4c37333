"""softmax(q k^T scaling + mask) v, which is what most models' eager attention is, without their copies and in small pieces.

A function of a model counts as plain only if its source says exactly this, line by line: a soft cap, a sink or a position
bias hardly show on a small text, so no comparison of numbers could tell. What is not plain is left to the model's function.
"""

import ast
import inspect
import math
import textwrap
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn

from headscope.kernels.threads import on_cpu, shared
from headscope.later import Later
from headscope.lens.watching.masks import MaskPart
from headscope.lens.watching.workspace import empty

# Numbers that are worked on at a time: they stay near a processor, from the product to the softmax to the sum, and are so
# many that calls do not count. SmolLM2, 1,024 tokens: 1.2 x the plain pass, and 1.35 with a quarter of them.
PIECE = 1_600_000
HALVES = 128  # rows: twice as many are worked on in two pieces at least, so that a decoder's first rows see half of them

# A text with fewer weights than this is left to the model's own function: all texts of a batch at once cost less there, and
# several threads share what they have to do better.
SMALL, SMALL_FOR_SEVERAL = 50_000, 600_000

softmax_rows: Any = Later("headscope.kernels.softmax", "softmax_rows")

_ARGUMENTS = ["module", "query", "key", "value", "attention_mask", "scaling", "dropout"]
_SCALING = """
if scaling is None:
    scaling = query.size(-1) ** (-0.5)"""
_GROUPED = """
key = repeat_kv(key, module.num_key_value_groups)
value = repeat_kv(value, module.num_key_value_groups)"""
_BODY = """
attn_weights = torch.matmul(query, key.transpose(2, 3)) * scaling
if attention_mask is not None:
    attn_weights = attn_weights + attention_mask
attn_weights = nn.functional.softmax(attn_weights, dim=-1)
attn_weights = nn.functional.dropout(attn_weights, p=dropout, training=module.training)
attn_output = torch.matmul(attn_weights, value)
attn_output = attn_output.transpose(1, 2)
return (attn_output, attn_weights)"""
_REPEAT = """
batch, num_key_value_heads, slen, head_dim = hidden_states.shape
if n_rep == 1:
    return hidden_states
hidden_states = hidden_states[:, :, None, :, :].expand(batch, num_key_value_heads, n_rep, slen, head_dim)
return hidden_states.reshape(batch, num_key_value_heads * n_rep, slen, head_dim)"""

# The same said otherwise, of four dimensions in float32 as they are here.
_SAME = (
    (", dtype=torch.float32).to(query.dtype)", ")"),
    ("attn_weights = attn_weights.type(value.dtype)\n", ""),
    ("key.transpose(-1, -2)", "key.transpose(2, 3)"),
    ("key_states", "key"),
    ("value_states", "value"),
    (".transpose(1, 2).contiguous()", ".transpose(1, 2)"),
)


def small() -> int:
    """How many weights a text has at least that is worked on here."""
    return SMALL if torch.get_num_threads() == 1 else SMALL_FOR_SEVERAL


@cache
def is_plain(own: Callable[..., Any]) -> bool:
    """Whether a model's eager attention function is the plain one, by its source."""
    if not inspect.isfunction(own) or not {"torch": torch, "nn": nn}.items() <= own.__globals__.items():
        return False
    body, arguments = _source(own)
    for said, otherwise in _SAME:
        body = body.replace(said, otherwise)
    if arguments != _ARGUMENTS or not body.endswith(_BODY):
        return False
    before = body.removesuffix(_BODY).removeprefix(_SCALING)
    if before == _GROUPED:
        return _source(own.__globals__.get("repeat_kv"))[0] == _REPEAT
    return before == ""


def _source(function: Any) -> tuple[str, list[str]]:
    """The statements of a function, each on a line of its own, without comments; and its arguments' names."""
    try:
        (defined,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    except (OSError, TypeError, SyntaxError):
        return "", []
    if not isinstance(defined, ast.FunctionDef) or defined.decorator_list:
        return "", []
    said = [line for line in defined.body if not (isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant))]
    return "".join(f"\n{ast.unparse(line)}" for line in said), [one.arg for one in defined.args.args]


def plain_attention(
    query: Tensor, key: Tensor, value: Tensor, scaling: float | None, mask: Callable[[int, int], MaskPart]
) -> tuple[Tensor, Tensor]:
    """(batch, row, head, d) output and (batch, head, row, key) weights, in float32.

    From queries (batch, head, row, d), keys and values (batch, group, key, d); `mask` says what rows start:stop see.
    """
    batch, heads, length, size = query.shape
    groups, keys = key.shape[1:3]
    weights, output = empty(query, batch, heads, length, keys), query.new_empty(batch, length, heads, value.shape[-1])
    scaling = size**-0.5 if scaling is None else scaling
    # A power of two rounds nothing, so queries, which are fewer numbers, take it.
    before = scaling if math.frexp(scaling)[0] == 0.5 else 1.0
    for rows in _pieces(length, heads * keys):
        part = mask(rows.start, rows.stop)
        for text in range(batch):  # one at a time: that needs no copy of its keys and values
            queries = query[text, :, rows.start : rows.stop].reshape(groups, -1, size)
            queries = queries if before == 1 else queries * before
            apart = len(rows) < length  # in the weights, a group's rows are not beside each other then
            scores = empty(query, groups, queries.shape[1], part.last) if apart else weights[text].view(groups, -1, keys)
            scores = scores[..., : part.last]
            torch.bmm(queries, key[text, :, : part.last].mT, out=scores)
            _weigh(scores.view(heads, len(rows), -1), scaling / before, part, text, weights[text], rows.start, apart)
            summed = torch.bmm(scores, value[text, :, : part.last])
            output[text, rows.start : rows.stop] = summed.view(heads, len(rows), -1).transpose(0, 1)
    return output, weights


def _pieces(length: int, numbers: int) -> Iterator[range]:
    """Rows that are worked on at a time, if each has so many numbers."""
    pieces = min(length, max(-(-length * numbers // PIECE), round(length / HALVES), 1))
    for place in range(pieces):
        yield range(length * place // pieces, length * (place + 1) // pieces)


def _weigh(scores: Tensor, scaling: float, mask: MaskPart, text: int, shown: Tensor, start: int, apart: bool) -> None:
    """Make weights of a text's scores (head, row, key up to the last that is seen), where they are.

    `shown` (head, row, key) has them from row `start` on, and 0 for keys that are not seen. The scores are a part of it, or
    apart.
    """
    heads, rows, seen = scores.shape
    added = None if mask.values is None else mask.values[text % len(mask.values), 0]
    if on_cpu(scores):
        added = scores.new_empty(rows, 0) if added is None else added.float().contiguous()
        ours, into = (scores if apart else shown).numpy(), shown.numpy()
        shared(softmax_rows, heads * rows, scores.numel(), ours, seen, scaling, added.numpy(), into, start, int(apart))
        return
    if scaling != 1:
        scores *= scaling
    if added is not None:
        scores[..., mask.first : mask.last] += added
    scores.copy_(torch.softmax(scores, -1))
    here = shown[:, start : start + rows]
    here[..., seen:] = 0
    if apart:
        here[..., :seen] = scores
