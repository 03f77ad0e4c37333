"""A tiny configuration for any architecture: the same fields as the real one, with every size shrunk."""

from dataclasses import fields

from transformers import CONFIG_MAPPING, PreTrainedConfig

from .overrides import OTHER_TOWERS, OVERRIDES

HIDDEN, HEADS, KEY_VALUE_HEADS, HEAD_DIM = 64, 4, 2, 16
LAYERS, FEED_FORWARD, VOCABULARY, WINDOW, EXPERTS = 2, 48, 128, 4, 4

# The names under which the architectures keep the sizes of their parts.
NAMES = (
    (
        HIDDEN,
        "hidden_size d_model n_embd emb_dim dim embedding_size embedding_dim input_embedding_size "
        "output_embedding_size word_embed_proj_dim lru_width attention_hidden_size cross_attention_hidden_size "
        "hidden_dim out_hidden_size output_dim encoder_hidden_size pooler_hidden_size backbone_hidden_size "
        "prediction_head_size pronunciation_embed_dim entity_emb_size audio_hidden_size",
    ),
    (
        HEADS,
        "num_attention_heads num_heads n_head n_heads encoder_attention_heads decoder_attention_heads "
        "num_encoder_attention_heads num_decoder_attention_heads attention_heads swa_num_attention_heads "
        "speech_encoder_attention_heads t2u_encoder_attention_heads t2u_decoder_attention_heads index_n_heads "
        "linear_num_heads linear_num_value_heads mamba_num_heads mamba_n_heads",
    ),
    (
        KEY_VALUE_HEADS,
        "num_key_value_heads num_kv_heads kv_n_heads swa_num_key_value_heads linear_num_key_heads",
    ),
    (
        HEAD_DIM,
        "head_dim d_kv d_head dim_head kv_channels attention_head_size attention_head_dim swa_head_dim v_head_dim "
        "qk_nope_head_dim index_head_dim linear_head_dim linear_key_head_dim linear_value_head_dim mamba_head_dim "
        "mamba_d_head query_pre_attn_scalar kv_lora_rank q_lora_rank o_lora_rank mamba_d_state state_size "
        "ssm_state_size mamba_dt_rank time_step_rank laurel_rank hidden_size_per_layer_input shape_embed_dim",
    ),
    (HEAD_DIM // 2, "qk_rope_head_dim rotary_dim"),
    (
        LAYERS,
        "num_hidden_layers num_layers n_layer n_layers encoder_layers decoder_layers num_encoder_layers "
        "num_decoder_layers depth speech_encoder_layers t2u_encoder_layers t2u_decoder_layers num_blocks "
        "num_sparse_encoder_layers num_sparse_decoder_layers",
    ),
    (
        FEED_FORWARD,
        "intermediate_size ffn_dim d_ff d_inner n_inner dff dim_ff ffn_hidden_size feed_forward_size "
        "encoder_ffn_dim decoder_ffn_dim moe_intermediate_size intermediate_size_mlp expert_ffn_hidden_size "
        "shared_expert_intermediate_size shared_intermediate_size moe_shared_expert_intermediate_size "
        "dense_intermediate_size prefix_dense_intermediate_size speech_encoder_intermediate_size "
        "t2u_encoder_ffn_dim t2u_decoder_ffn_dim",
    ),
    (
        VOCABULARY,
        "vocab_size src_vocab_size tgt_vocab_size decoder_vocab_size t2u_vocab_size char_vocab_size "
        "unit_hifi_gan_vocab_size entity_vocab_size pronunciation_vocab_size shape_vocab_size "
        "vocab_size_per_layer_input max_position_embeddings n_positions n_ctx max_seq_len context_length "
        "max_source_positions max_target_positions max_encoder_position_embeddings max_decoder_position_embeddings "
        "t2u_max_position_embeddings max_2d_position_embeddings model_max_length",
    ),
    (
        WINDOW,
        "sliding_window sliding_window_size local_attention window_size attention_window attention_window_size "
        "attention_chunk_size index_topk keep_window_size",
    ),
    (EXPERTS, "num_experts num_local_experts n_routed_experts moe_num_experts zero_expert_num"),
    (2, "num_experts_per_tok num_experts_per_token moe_topk moe_k moe_top_k"),
    (
        1,
        "n_group topk_group num_expert_group n_shared_experts num_shared_experts moe_num_shared_experts "
        "first_k_dense_replace num_dense_layers mamba_n_groups n_groups max_window_layers",
    ),
    (True, "use_sliding_window"),
    (2.0, "attn_logit_softcapping"),  # as small as the scores, so that it is felt
)
SIZES = {name: size for size, names in NAMES for name in names.split()}
# Set even where the default configuration leaves them empty.
OPTIONAL = {
    "sliding_window",
    "head_dim",
    "num_key_value_heads",
    "n_routed_experts",
    "n_shared_experts",
    "num_experts_per_tok",
    "n_group",
    "topk_group",
}
SPECIAL_TOKENS = ("pad_token_id", "bos_token_id", "eos_token_id")
ROLES = {"is_decoder", "add_cross_attention"}
NOT_ATTENTION = {"linear_attention", "conv", "moe", "mlp"}


def tiny_config(model_type: str) -> PreTrainedConfig:
    config = shrink(CONFIG_MAPPING[model_type]())
    for part, settings in OTHER_TOWERS.get(model_type, {}).items():
        vars(config)[part] = CONFIG_MAPPING[settings["model_type"]](**settings)  # past its check of types
    return config


def shrink(config: PreTrainedConfig) -> PreTrainedConfig:
    """A tiny configuration of the same class; what the class derives from other fields, it derives anew."""
    own = {field.name for field in fields(config)} - {field.name for field in fields(PreTrainedConfig)}
    tiny = {role: True for role in ROLES if getattr(config, role, False)}
    for name in own:
        value = vars(config).get(config.attribute_map.get(name, name))
        if isinstance(value, PreTrainedConfig):
            tiny[name] = shrink(value)
        elif name in SIZES and (value is not None or name in OPTIONAL):
            tiny[name] = SIZES[name]
        elif name in SPECIAL_TOKENS and isinstance(value, int) and value >= VOCABULARY:
            tiny[name] = SPECIAL_TOKENS.index(name)
    tiny |= layer_patterns(config, own)
    if "kv_lora_rank" in own:  # latent attention: keys for every head, of which only a part is rotated
        tiny |= {"num_key_value_heads": HEADS, "head_dim": SIZES["qk_rope_head_dim"]}
    return type(config)(**tiny | OVERRIDES.get(config.model_type, {}))


def layer_patterns(config: PreTrainedConfig, own: set[str]) -> dict:
    patterns = {}
    for name in own & {"layer_types", "layers_block_type"}:
        if kinds := getattr(config, name):
            patterns[name] = short_pattern(kinds, windows="sliding_window" in own)
            patterns["num_hidden_layers"] = len(patterns[name])
    if "mlp_layer_types" in own and config.mlp_layer_types:
        layers = patterns.get("num_hidden_layers", LAYERS)
        kinds = list(dict.fromkeys(config.mlp_layer_types))
        patterns["mlp_layer_types"] = (kinds + kinds[-1:] * layers)[:layers]
    return patterns


def short_pattern(kinds: list[str], windows: bool) -> list[str]:
    """Every kind of layer once, a window where the architecture knows them, and at least two layers of attention."""
    pattern = list(dict.fromkeys(kinds))
    if windows and pattern == ["full_attention"]:
        pattern = ["sliding_attention", "full_attention"]
    attention = [kind for kind in pattern if kind not in NOT_ATTENTION]
    return pattern + attention[-1:] * (LAYERS - len(attention))
