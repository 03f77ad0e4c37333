"""A run made of several studies: its results, their figures and tables for print, and the page that holds them together."""
