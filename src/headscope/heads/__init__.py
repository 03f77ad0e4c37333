"""What is said of heads, out of the tables of a run: names for what they do, who is best at what, who are alike."""

from headscope.heads.antecedents import best_antecedent_heads
from headscope.heads.clusters import clusters, embed, nearest_heads, nearest_in_layer
from headscope.heads.exemplars import add_exemplars, readable
from headscope.heads.patterns import name_patterns
from headscope.heads.relations import best_relation_heads, held_out_accuracy
from headscope.heads.role_map import role_map
from headscope.heads.roles import roles

__all__ = [
    "add_exemplars", "best_antecedent_heads", "best_relation_heads", "clusters", "embed", "held_out_accuracy",
    "name_patterns", "nearest_heads", "nearest_in_layer", "readable", "role_map", "roles",
]  # fmt: skip
