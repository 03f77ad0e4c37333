"""How well a head aligns the words of a text and of its translation."""
