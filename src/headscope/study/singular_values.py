"""How much a head's f stretches what it reads: singular values, as a linear map on d + 1 dimensions (kobayashi2020, C)."""

from __future__ import annotations

from headscope.later import Tensor, pd, torch
from headscope.lens.head import HEAD
from headscope.lens.lens import Lens


def singular_values_of(values: Tensor, bias: Tensor, output: Tensor) -> Tensor:
    """Of x~ -> x~ W~_V W~_O, from W_V (..., d_model, d_head), b_V (..., d_head), W_O (..., d_head, d_model): (..., d_head+1)

    Descending; all further ones of the d + 1 are zero. W~_V is W_V with b_V below it, and both matrices have a last row and
    column that keep the 1 in x~ = (x, 1) (eq. 12 and 13). From two small triangular matrices, not from (d + 1) x (d + 1).
    """
    *lead, rows, size = values.shape
    wide = values.new_zeros(*lead, rows + 1, size + 1)
    wide[..., :-1, :-1], wide[..., -1, :-1], wide[..., -1, -1] = values, bias, 1
    back = values.new_zeros(*lead, size + 1, output.shape[-1] + 1)
    back[..., :-1, :-1], back[..., -1, -1] = output, 1
    left, right = torch.linalg.qr(wide).R, torch.linalg.qr(back.mT).R
    return torch.linalg.svdvals(left @ right.mT)


def singular_values(lens: Lens) -> pd.DataFrame:
    """One row a singular value: stack, kind, layer, head, rank (from 0, the largest first), value.

    Heads whose values are not what a plain linear layer makes of their input, or which have no W_O, are absent.
    """
    parts = []
    for site in lens.sites:
        matrices = lens.matrices(site)
        if matrices is None:
            continue
        found = singular_values_of(*(matrix.double().cpu() for matrix in matrices))
        index = pd.MultiIndex.from_product([range(site.heads), range(found.shape[1])], names=["head", "rank"])
        frame = pd.DataFrame({"value": found.flatten().numpy()}, index=index).reset_index()
        parts.append(frame.assign(stack=site.stack, kind=site.kind, layer=site.layer))
    columns = [*HEAD, "rank", "value"]
    return pd.concat(parts, ignore_index=True)[columns] if parts else pd.DataFrame(columns=columns)


def condition_numbers(table: pd.DataFrame) -> pd.DataFrame:
    """One row a head: the largest and smallest of its singular values, and their ratio, `condition`."""
    found = table.groupby(HEAD, sort=False)["value"].agg(largest="max", smallest="min").reset_index()
    return found.assign(condition=found["largest"] / found["smallest"])
