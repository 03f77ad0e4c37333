"""What is read: documents, the readers that make them, and corpora of them."""

from typing import TYPE_CHECKING

from headscope.later import doors

if TYPE_CHECKING:
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

if not TYPE_CHECKING:
    __getattr__ = doors(
        __name__,
        {
            "annotate": "Annotator",
            "coreference.windows": "windows",
            "corpus": "Corpus",
            "document": "Document",
            "links": "Links",
            "mention": "Mention",
            "parallel": "parallel_documents",
            "readers.formats": "FORMATS",
            "relation_names": "find_relation",
        },
    )
