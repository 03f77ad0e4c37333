"""Readers: one file for each format, from numbered lines to documents."""
