"""What was read, in words: made of what a corpus says of itself for a manifest, and of how many documents it has."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

FORMS = {"wikitext": "WikiText", "paragraph lines": "a paragraph a line"}


def as_read(corpus: Mapping[str, Any]) -> str:
    """The documents, the files, the format and its forms.

    >>> described = {"paths": ["texts/wiki.txt"], "format": "paragraph-pairs", "forms": {"wikitext": 1}, "asked": 992}
    >>> as_read({**described, "documents": 906})
    '906 documents of wiki.txt (paragraph-pairs; WikiText, its marks undone), fewer than the 992 that were asked for'
    """
    if not corpus.get("paths"):
        return what_of({**corpus, "unit": "document"})
    how = [_format(corpus), *(_form(form, corpus) for form in corpus.get("forms", {}))]
    whole = what_of({**corpus, "unit": "document"})
    return f"{whole} ({'; '.join(how)})" + (f", {_fewer(corpus)}" if _is_fewer(corpus) else "")


def what_of(corpus: Mapping[str, Any]) -> str:
    """How many of which files alone, as a figure says it.

    >>> what_of({"paths": ["texts/wiki.txt"], "format": "paragraph-pairs", "documents": 1})
    '1 document of wiki.txt'
    >>> what_of({"paths": ["dev.conllu"], "format": "conllu", "unit": "sentence", "documents": 2001})
    '2,001 sentences of dev.conllu'
    """
    documents = corpus["documents"]
    count = f"{documents:,} {corpus.get('unit', 'document')}{'s' if documents != 1 else ''}"
    files = [Path(path).name for path in corpus.get("paths", [])]
    if not files:
        return f"{count}, given from Python"
    return f"{count} of {', '.join(files[:3])}" + (f" and {len(files) - 3:,} more files" if len(files) > 3 else "")


def notices(corpus: Mapping[str, Any]) -> list[str]:
    """What people should hear before it is counted: a form that was recognised, fewer documents than were asked for."""
    said = []
    names = ", ".join(Path(path).name for path in corpus.get("paths", [])[:3])
    if "wikitext" in corpus.get("forms", {}):
        marks = "kept" if corpus.get("keep_marks") else "undone (--keep-marks leaves them)"
        said.append(f"{names}: WikiText, read with a paragraph a line; its marks, such as @-@, are {marks}.")
    elif corpus.get("forms"):
        said.append(f"{names}: every line is read as a paragraph, since they are long and no blank lines part them.")
    if _is_fewer(corpus):
        said.append(f"{names or 'The corpus'}: {corpus['documents']:,} documents are read, {_fewer(corpus)}.")
    return said


def _format(corpus: Mapping[str, Any]) -> str:
    return f"{corpus['format']} by {corpus['unit']}" if "unit" in corpus else str(corpus["format"])


def _form(form: str, corpus: Mapping[str, Any]) -> str:
    if form != "wikitext":
        return FORMS[form]
    return f"{FORMS[form]}, its marks {'kept' if corpus.get('keep_marks') else 'undone'}"


def _is_fewer(corpus: Mapping[str, Any]) -> bool:
    return bool(corpus["documents"] < corpus.get("asked", 0))


def _fewer(corpus: Mapping[str, Any]) -> str:
    return f"fewer than the {corpus['asked']:,} that were asked for"
