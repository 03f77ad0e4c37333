"""What is said of heads, out of the tables of a run."""
