"""Word alignments: links between the words of a text and of its translation, their files, and how good they are."""
