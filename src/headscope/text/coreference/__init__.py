"""Mentions: their head words, kinds and agreement, the cases that coreference is judged on, windows of long documents."""
