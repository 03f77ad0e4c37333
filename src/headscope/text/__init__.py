"""What is read: documents, the readers that make them, and corpora of them."""

from headscope.text.annotate import Annotator
from headscope.text.coreference.windows import windows
from headscope.text.corpus import Corpus
from headscope.text.document import Document
from headscope.text.links import Links
from headscope.text.mention import Mention
from headscope.text.parallel import parallel_documents
from headscope.text.readers.formats import FORMATS
from headscope.text.relation_names import find_relation

__all__ = [
    "FORMATS", "Annotator", "Corpus", "Document", "Links", "Mention", "find_relation", "parallel_documents", "windows",
]  # fmt: skip
