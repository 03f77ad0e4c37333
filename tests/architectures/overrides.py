"""What the general shrinking cannot know: sizes that hang together in an architecture's own way.

Keys are the `model_type` of a configuration, also where it is a part of another one. The values go to
the configuration as they are; where several are possible, we took the one that shows the architecture's
own way of attending (a window that bites, an indexer that selects, layers that share their keys).
"""

WINDOWED = {"sliding_attention": {"rope_type": "default", "rope_theta": 10000.0}, "full_attention": None}
HYBRID = ["linear_attention", "full_attention", "full_attention"]
SHARED_KEYS = {
    "layer_types": ["sliding_attention", "full_attention"] * 2,
    "num_hidden_layers": 4,
    "num_kv_shared_layers": 2,
}
LOCAL_BYTES = {"hidden_size": 32, "num_key_value_heads": 4, "hidden_size_global": 64}

OVERRIDES = {
    # attention of their own kind
    "big_bird": {"attention_type": "original_full"},  # what the block-sparse one does on a text this short
    "bigbird_pegasus": {"attention_type": "original_full"},
    "deberta": {"relative_attention": True, "max_relative_positions": 8, "pos_att_type": ["c2p", "p2c"]},
    "deberta-v2": {
        "relative_attention": True,
        "max_relative_positions": 8,
        "position_buckets": 4,
        "pos_att_type": ["c2p", "p2c"],
    },
    "deepseek_v4": {
        "num_key_value_heads": 1,
        "compress_rates": {"compressed_sparse_attention": 2, "heavily_compressed_attention": 4},
    },
    "esm": {"vocab_size": 128, "pad_token_id": 1, "mask_token_id": 127, "position_embedding_type": "rotary"},
    "esmc": {"num_key_value_heads": 4},
    "funnel": {"block_sizes": (2, 1)},
    "gpt_neo": {"attention_types": [[["global", "local"], 1]]},
    "inkling_text": {"rel_extent": 8},
    "laguna": {"num_attention_heads_per_layer": [4, 2]},
    "longt5": {"local_radius": 3, "global_block_size": 4},
    "minimax_m3_vl_text": {
        "layer_types": ["minimax_m3_sparse", "full_attention"],
        "index_block_size": 2,
        "index_topk_blocks": 2,
    },
    "pegasus_x": {"block_size": 4, "num_global_tokens": 2},
    "qwen4_exp_text": {
        "indexer_n_heads": 2,
        "indexer_kv_heads": 1,
        "indexer_head_dim": 16,
        "indexer_budget": 4,
        "indexer_compress_ratio": 2,
        "hc_lowrank": 8,
        "ple_layer_ids": [1],
        "heads_per_ngram": 2,
        "ngram_vocab_size_base": 50,
        "split_ngram_parts": 1,
        "eos_token_id": 2,
    },
    "reformer": {
        "attn_layers": ["local", "lsh"],
        "local_attn_chunk_length": 4,
        "lsh_attn_chunk_length": 4,
        "num_buckets": 2,
        "hash_seed": 0,
        "axial_pos_shape": (4, 4),
        "axial_pos_embds_dim": (32, 32),
    },
    # patterns of layers
    "bamba": {"mamba_d_head": 32, "num_hidden_layers": 3, "attn_layer_indices": [1, 2]},
    "cohere_compass_text": {"rope_parameters": WINDOWED},
    "gemma3n_text": SHARED_KEYS,
    "gemma4_text": SHARED_KEYS | {"global_head_dim": 32},
    "gemma4_unified_text": {"global_head_dim": 32},
    "granitemoehybrid": {
        "mamba_d_head": 32,
        "num_hidden_layers": 3,
        "layer_types": HYBRID,
        "position_embedding_type": "rope",
    },
    "falcon_h1": {"mamba_d_ssm": 128, "mamba_d_head": 32},
    "jamba": {"num_hidden_layers": 4, "attn_layer_period": 2, "attn_layer_offset": 1},
    "lfm2": {
        "num_hidden_layers": 3,
        "layer_types": ["conv", "full_attention", "full_attention"],
        "block_auto_adjust_ff_dim": False,
    },
    "lfm2_moe": {"num_hidden_layers": 3, "layer_types": ["conv", "full_attention", "full_attention"]},
    "llama4_text": {"no_rope_layers": [1, 0], "floor_scale": 4},
    "mamba2": {"num_heads": 8},
    "mllama_text_model": {"num_hidden_layers": 3, "cross_attention_layers": [1]},
    "nllb-moe": {"encoder_sparse_step": 2, "decoder_sparse_step": 2},
    "recurrent_gemma": {"num_hidden_layers": 3, "block_types": ["recurrent", "attention", "attention"]},
    "smollm3": {"no_rope_layers": [1, 0]},
    "zamba": {
        "num_hidden_layers": 3,
        "layers_block_type": ["linear_attention", "hybrid", "hybrid"],
        "attention_hidden_size": 128,
        "attention_head_dim": 32,
        "num_key_value_heads": 4,
    },
    "zaya": {"num_experts_per_tok": 1, "layer_types": ["hybrid", "hybrid_sliding"], "router_hidden_size": 16},
    # parts that must fit each other
    "blt": {"encoder_hash_byte_group_vocab": 101, "patching_threshold": 4.0},
    "blt_local_encoder": LOCAL_BYTES,
    "blt_local_decoder": LOCAL_BYTES,
    "bert-generation": {"is_decoder": True},
    "cpmant": {"prompt_length": 3},
    "dbrx": {"attn_config": {"kv_n_heads": 2, "rope_theta": 10000.0, "clip_qkv": 8.0}},
    "mobilebert": {"intra_bottleneck_size": 32, "normalization_type": "layer_norm"},  # without, scores saturate
    "musicgen_decoder": {"num_codebooks": 1},  # one row of ids for each text
    "musicgen_melody_decoder": {"num_codebooks": 1},
    "perceiver": {
        "d_latents": 64,
        "num_latents": 8,
        "num_blocks": 1,
        "num_self_attends_per_block": 2,
        "num_self_attention_heads": 4,
        "num_cross_attention_heads": 4,
    },
    "xmod": {"languages": ["en_XX"], "default_language": "en_XX"},
    # towers that no text enters
    "got_ocr2_vision": {"image_size": 32, "mlp_dim": 48, "output_channels": 16},
    "neomme": {"patch_size": 4},
    "nemotron3_5_transcribe_word_timestamp": {"blank_token_id": 127},
    "phi4_multimodal_audio": {
        "ext_pw_out_channel": 64,
        "depthwise_separable_out_channel": 64,
        "nemo_conv_channels": 8,
        "bias_max_distance": 8,
    },
    "phi4_multimodal_vision": {"image_size": 28, "crop_size": 28},
    "qwen3_asr_encoder": {"downsample_hidden_size": 8},
    "vibevoice_acoustic_tokenizer_encoder": {"num_filters": 4, "depths": (1, 1), "downsampling_ratios": (2,)},
}

# Towers that no text enters, and that need packages which are not here: another stands in their place.
OTHER_TOWERS = {
    "gemma3n": {
        "vision_config": {
            "model_type": "siglip_vision_model",
            "hidden_size": 64,
            "intermediate_size": 48,
            "num_hidden_layers": 1,
            "num_attention_heads": 4,
            "image_size": 32,
            # as the real one's configuration has them
            "vocab_size": 8,
            "vocab_offset": 120,
            "rms_norm_eps": 1e-6,
        }
    }
}

DRAFTS = "It drafts from the hidden states and keys of a larger model and takes no text: read that model."
NEEDS_MORE_THAN_TEXT = {
    "gemma4_assistant": DRAFTS,
    "gemma4_unified_assistant": DRAFTS,
    "voxtral_realtime": "It adds audio to every token and refuses to run without: read `voxtral`, which takes text alone.",
}
