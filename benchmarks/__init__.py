"""Ratios against the plain forward pass and the textbook formula: `make bench`, or `python -m benchmarks --list`."""
