"""What is read: documents, and (from the next stone on) the readers that make them."""

from headscope.text.document import Document

__all__ = ["Document"]
