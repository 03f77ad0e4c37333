"""What a run comes to in words and numbers for people: findings, a card for every head, a page with all of it."""

from headscope.report.page import report_page
from headscope.report.report_json import description
from headscope.report.write import write_report

__all__ = ["description", "report_page", "write_report"]
