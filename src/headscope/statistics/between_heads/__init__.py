"""How far apart heads are."""
