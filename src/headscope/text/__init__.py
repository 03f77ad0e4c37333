"""What is read: documents, the readers that make them, and corpora of them."""

from headscope.text.annotate import Annotator
from headscope.text.corpus import Corpus
from headscope.text.document import Document
from headscope.text.mention import Mention
from headscope.text.readers.formats import FORMATS

__all__ = ["FORMATS", "Annotator", "Corpus", "Document", "Mention"]
