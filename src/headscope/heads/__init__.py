"""What is said of heads, out of the tables of a run: names for what they do, who is best at what, who are alike."""

from typing import TYPE_CHECKING

from headscope.later import doors

if TYPE_CHECKING:
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

if not TYPE_CHECKING:
    __getattr__ = doors(
        __name__,
        {
            "antecedents": "best_antecedent_heads",
            "clusters": "clusters embed nearest_heads nearest_in_layer",
            "exemplars": "add_exemplars readable",
            "patterns": "name_patterns",
            "relations": "best_relation_heads held_out_accuracy",
            "role_map": "role_map",
            "roles": "roles",
        },
    )
