"""How differently two heads look: the Jensen-Shannon divergence of their rows, for all pairs (clark2019, section 6)."""

from __future__ import annotations

import math

import numpy as np

from headscope.errors import InputError
from headscope.later import Tensor, pd, torch
from headscope.lens.head import HEAD
from headscope.lens.score_block import ScoreBlock
from headscope.statistics.base import Array, Columns, Heads, Statistic, Sums, ratio
from headscope.statistics.between_heads.batch_maps import BatchMaps
from headscope.statistics.between_heads.divergences import divergences
from headscope.statistics.columns import NATS, Column
from headscope.statistics.registry import setting, statistic

SMOOTHING = 0.001  # of the released code
NOTHING = 1e-15  # a weight below it counts as 0: products of two such would slow a processor down
OTHER = ["other_layer", "other_head"]


def distributions(scores: Tensor, variant: str = "paper") -> tuple[Tensor, Tensor]:
    """Scores (head, row, key) as rows that sum to 1, and which rows those are: (head, row); others are all 0."""
    rows = scores.clamp(min=0)
    sums = rows.sum(-1, keepdim=True)
    some = sums > 0
    torch.nn.functional.threshold(rows.div_(sums.where(some, 1)), NOTHING, 0, inplace=True)
    if variant == "code":
        rows.mul_(1 - SMOOTHING).add_(SMOOTHING / rows.shape[-1]).mul_(some)
    return rows, some.squeeze(-1)


def map_divergences(scores: Tensor, variant: str = "paper") -> tuple[Array, Array]:
    """JS summed over the rows of one text's maps (head, row, key), and how many rows: (head, head) each."""
    rows, some = distributions(scores, variant)
    found = divergences(rows.flatten(1))
    given = some.double()
    both = given @ given.T
    # Against a row of nothing, every other row has JS = log 2 / 2: such pairs of rows are left out.
    only_one = given.sum(1)[:, None] + given.sum(1) - 2 * both
    return (found - math.log(2) / 2 * only_one).clamp(min=0).cpu().numpy(), both.cpu().numpy()


@statistic("jensen_shannon")
class JensenShannon(Statistic):
    """Jensen-Shannon divergence between the rows of every two heads, in nats: mean and sum over the rows.

    Pairs are of heads that have the same queries and keys: those of one stack and kind. Rows are normalised to sum 1, with
    negative scores as 0; a row in which a head gives nothing is left out for the pairs of that head. A text counts with at
    most `rows` of its rows, evenly spaced, and with fewer in proportion where they have more than 512 keys, because all
    maps of a batch are held until its last attention has run; for texts of up to 128 tokens, as the paper's are, nothing is
    left out. The released code (`variant="code"`) smooths every row first: 0.999 p + 0.001 / keys.
    """

    variant: str = setting("paper", one_of=("paper", "code"), said="{}", help="code smooths rows as the released code does.")
    rows: int = setting(128, least=1, help="Rows of a text that count at the most, evenly spaced.")

    sums = ("total", "rows")  # one entry a pair
    usual = False
    resampled = False
    card_place = 170
    divergence = Column("Jensen-Shannon divergence", NATS, "How differently two heads look.", "looks more differently")
    total = Column("Sum of divergences", NATS, "The same, summed over all rows.", "looks more differently", of_heads=False)

    def begin(self) -> None:
        sites, pairs = self.heads.sites, 0
        self._held: dict[tuple[str, str], BatchMaps] = {}  # of the batch that is running; no part of the state
        self._groups: dict[tuple[str, str], tuple[Heads, int]] = {}  # by stack and kind: the heads, and their first pair
        for group in dict.fromkeys((site.stack, site.kind) for site in sites):
            heads = Heads([site for site in sites if (site.stack, site.kind) == group], joint=self.joint)
            self._groups[group] = heads, pairs
            pairs += heads.count * (heads.count - 1) // 2
        self.state = {name: np.zeros(pairs) for name in self.sums}

    def update(self, block: ScoreBlock) -> None:
        group = block.site.stack, block.site.kind
        heads, first = self._groups[group]
        held = self._held.get(group)
        if held is None or not held.goes_on_with(block):
            held = self._held[group] = BatchMaps(block, heads, self.rows)
        held.take(block, block.scores(self.measure))
        if held.complete:
            del self._held[group]
            pairs = np.triu_indices(heads.count, 1)
            for text in held.texts:
                for name, amounts in zip(self.sums, map_divergences(text.scores, self.variant), strict=True):
                    self.state[name][first : first + len(pairs[0])] += amounts[pairs]

    def columns(self, sums: Sums) -> Columns:
        return {"divergence": ratio(sums["total"], sums["rows"]), "total": sums["total"]}

    def labels(self) -> pd.DataFrame:
        """One row a pair: stack, kind, layer, head, other_layer, other_head; the other comes later in the model."""
        frames = []
        for heads, _ in self._groups.values():
            ones, others = (heads.labels().iloc[places] for places in np.triu_indices(heads.count, 1))
            frames.append(ones.assign(other_layer=others["layer"].array, other_head=others["head"].array))
        return pd.concat(frames, ignore_index=True)


def distance_matrix(table: pd.DataFrame, column: str = "divergence") -> tuple[pd.DataFrame, Array]:
    """The heads of a table of pairs (stack, kind, layer, head), and their distances: (head, head).

    0 on the diagonal; not a number for pairs that the table does not have.
    """
    groups = table[HEAD[:2]].drop_duplicates()
    if len(groups) != 1:
        names = ", ".join(f"{stack} {kind}" for stack, kind in groups.itertuples(index=False)) or "no heads"
        raise InputError(f"Only heads of one stack and kind have distances, and this table has {names}: choose one of them.")
    others = table[[*HEAD[:2], *OTHER]].set_axis(HEAD, axis=1)
    labels = pd.concat([table[HEAD], others]).drop_duplicates(ignore_index=True)
    places = _as_index(labels[HEAD[2:]])
    left, right = (places.get_indexer(_as_index(table[names])) for names in (HEAD[2:], OTHER))
    matrix = np.full((len(labels), len(labels)), np.nan)
    np.fill_diagonal(matrix, 0)
    matrix[left, right] = matrix[right, left] = table[column]
    return labels, matrix


def _as_index(heads: pd.DataFrame) -> pd.MultiIndex:
    return pd.MultiIndex.from_frame(heads.astype("Int64").fillna(-1))  # joint measures have no head
