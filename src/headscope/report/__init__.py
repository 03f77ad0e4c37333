"""What a run comes to in words and numbers for people: findings, a card for every head, titles of columns."""

from headscope.report.tables import tables_of

__all__ = ["tables_of"]
