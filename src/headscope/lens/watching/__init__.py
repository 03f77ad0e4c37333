"""How a model is watched while it runs: its attentions found by following the data, and seen block by block."""
