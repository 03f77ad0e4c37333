"""What a run's tables say, in plain sentences with their numbers; every sentence holds whatever the numbers are."""

from collections.abc import Callable, Iterator

from headscope.report.findings.causes import confirmed, strongest
from headscope.report.findings.differences import compare_findings
from headscope.report.findings.extremes import alike, caution, extremes
from headscope.report.findings.finding import Finding
from headscope.report.findings.norms import contradictions, correlations
from headscope.report.findings.roles import missing, named, overview, sinks
from headscope.report.findings.words import antecedents, relations
from headscope.study.run import Run

__all__ = ["Finding", "compare_findings", "findings"]

FINDERS: tuple[Callable[[Run], Iterator[Finding]], ...] = (  # what tells most first: roles that few heads have
    overview,
    relations,
    antecedents,
    named,
    confirmed,
    strongest,
    sinks,
    contradictions,
    missing,
    correlations,
    alike,
    extremes,
)


def findings(run: Run) -> list[Finding]:
    """All that can be said of a run, in the order of FINDERS. Any table may be missing; nothing is said of what is.

    Each number of a sentence stands in `numbers`, with the table, column and rows that it comes from; the table `roles`
    is `run.roles`.
    """
    finders = FINDERS if run.heads else (caution,)
    return [finding for find in finders for finding in sorted(find(run), key=lambda found: -found.salience)]
