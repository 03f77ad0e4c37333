"""Papers: their tables and figures for any model, with their own numbers beside. A folder each."""
