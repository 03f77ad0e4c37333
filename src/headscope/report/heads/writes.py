"""What a head writes in the exemplar that its card draws: tokens that it makes more likely, and less."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from headscope.heads.exemplar_writes import COUNT, NAME
from headscope.lens.head import HEAD, Head
from headscope.report.schema import Exemplar, HeadWrites, Written
from headscope.study.run import Run


def writes_of(run: Run, exemplars: Mapping[Head, Sequence[Exemplar]]) -> dict[Head, HeadWrites]:
    """By head; none for those that write to no words."""
    table = run.get(NAME)
    if table is None:
        return {}
    found: dict[Head, HeadWrites] = {}
    for _, rows in table.groupby(HEAD, sort=False):
        head, rank = Head.of(rows.iloc[0].to_dict()), int(rows["rank"].iloc[0])
        written = [Written(token=row.token, logit=float(row.logit)) for row in rows.itertuples()]
        more = [one for one in written if one["logit"] > 0][:COUNT]
        less = [one for one in reversed(written) if one["logit"] < 0][:COUNT]
        if more and less and rank <= len(exemplars.get(head, ())):
            found[head] = {"at": exemplars[head][rank - 1]["attending"], "more": more, "less": less}
    return found
