"""What a run comes to in words and numbers for people: findings, a card for every head, a page with all of it."""

from headscope.report.findings.findings import compare_findings, findings
from headscope.report.needed_tables import add_model_tables, report_statistics
from headscope.report.page import report_page, write_report
from headscope.report.page import write_report as report  # as `headscope` calls it
from headscope.report.report_json import description

__all__ = [
    "add_model_tables", "compare_findings", "description", "findings", "report", "report_page", "report_statistics",
    "write_report",
]  # fmt: skip
