"""headscope beside other tools, on the same models, texts and machine: `make compare`, or `python -m comparisons --list`."""
