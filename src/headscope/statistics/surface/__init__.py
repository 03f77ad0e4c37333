"""Where a head looks, and how broadly: statistics that need no annotation."""
