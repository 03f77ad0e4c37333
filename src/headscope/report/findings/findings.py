"""What a run's tables say, in plain sentences with their numbers; every sentence holds whatever the numbers are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pandas as pd

from headscope.heads.roles import roles
from headscope.heads.run_by_head import RunByHead
from headscope.report.findings.differences import compare_findings
from headscope.report.findings.extremes import alike, caution, extremes
from headscope.report.findings.finding import Finding
from headscope.report.findings.norms import contradictions, correlations
from headscope.report.findings.roles import broad, overview, parking, placed, repeated, second_sinks
from headscope.report.findings.words import antecedents, relations

__all__ = ["Finding", "compare_findings", "findings"]

FINDERS: tuple[Callable[[RunByHead, pd.DataFrame], Iterator[Finding]], ...] = (
    overview,
    relations,
    antecedents,
    contradictions,
    repeated,
    placed,
    parking,
    second_sinks,
    correlations,
    broad,
    alike,
    extremes,
)


def findings(tables: Mapping[str, pd.DataFrame], manifest: Mapping[str, Any] | None = None) -> list[Finding]:
    """All that can be said of a run, what tells most first. Any table may be missing; nothing is said of what is.

    Each number of a sentence stands in `numbers`, with the table, column and rows that it comes from; the table `roles`
    is `headscope.heads.roles.roles(tables)`.
    """
    found, named = RunByHead(tables), roles(tables)
    made = [finding for find in FINDERS for finding in find(found, named)] if len(named) else []
    return sorted([*caution(manifest or {}), *made], key=lambda finding: -finding.telling)
