"""The commands as a user meets them: output, JSON, and errors of one sentence with exit code 2."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest
import torch

import headscope
from headscope.cli import main
from tests.tiny import tiny
from tests.tiny_tokenizers import save_tiny, tiny_tokenizer


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny saved model with its tokenizer."""
    path = tmp_path_factory.mktemp("model")
    tiny("bert").save_pretrained(path)
    tiny_tokenizer("wordpiece").save_pretrained(path)
    return path


def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "argv", ["headscope", *map(str, arguments)])
    capsys.readouterr()  # what saving a model printed is not the command's
    with pytest.raises(SystemExit) as left:
        main()
    captured = capsys.readouterr()
    return int(left.value.code or 0), captured.out, captured.err


def test_doctor_prints_a_table_and_a_verdict(monkeypatch, capsys, folder: Path) -> None:
    code, out, _ = run(monkeypatch, capsys, "doctor", folder)
    assert "residual connection: found at 3 of 3 sites: LN(r + y)" in out
    assert code == 0
    assert "encoder self 2" in out
    assert "ok: weights and norms are read right at every site." in out


def test_doctor_as_json(monkeypatch, capsys, folder: Path) -> None:
    code, out, _ = run(monkeypatch, capsys, "doctor", folder, "--json")
    assert {site["residual"] for site in json.loads(out)["sites"]} == {"LN(r + y)"}
    found = json.loads(out)
    assert (code, found["verdict"], len(found["sites"])) == (0, "ok", 3)
    assert found["sites"][0]["projection"] == "encoder.layer.0.attention.output.dense"
    assert found["sites"][0]["reconstruction_error"] < 1e-4


def test_doctor_exits_with_1_where_norms_are_missing(monkeypatch, capsys, tmp_path: Path) -> None:
    from tests.architectures.tiny_models import build

    build("jetmoe").model.save_pretrained(tmp_path)
    tiny_tokenizer("bpe").save_pretrained(tmp_path)
    code, out, _ = run(monkeypatch, capsys, "doctor", tmp_path)
    assert code == 1
    assert "weights only" in out
    assert "reads its output" in out


def test_read_prints_every_head(monkeypatch, capsys, folder: Path) -> None:
    code, out, _ = run(monkeypatch, capsys, "read", folder, "the cats sat", "--measure", "norm")
    assert code == 0
    assert "2.3" in out


def test_read_as_json(monkeypatch, capsys, folder: Path) -> None:
    code, out, _ = run(monkeypatch, capsys, "read", folder, "the cats sat", "--level", "word", "--json")
    found = json.loads(out)
    assert code == 0
    assert found["key_tokens"] == ["[CLS]", "the", "cats", "sat", "[SEP]"]
    scores = torch.tensor(found["scores"])
    assert scores.shape == (3, 4, 5, 5)
    torch.testing.assert_close(scores.sum(-1), torch.ones(3, 4, 5))


def test_read_says_what_each_head_looks_at_most(monkeypatch, capsys, folder: Path) -> None:
    code, out, _ = run(monkeypatch, capsys, "read", folder, "the cats sat", "-m", "norm", "--attention", "encoder self")
    with headscope.open(folder) as lens:
        reading = lens.read("the cats sat")
    here = reading.scores("norm")[2, 3]
    token, row, key = (int(place) for place in (here.sum(0).argmax(), *divmod(int(here.argmax()), here.shape[1])))
    tokens, share = reading.tokens, here.sum(0)[token] / here.sum()
    line = next(line.split() for line in out.splitlines() if line.split()[:1] == ["2.3"])
    sinks = f"{(here.sum(0)[0] + here.sum(0)[-1]) / here.sum():.2f}"
    assert line == ["2.3", sinks, tokens[token], f"{share:.2f}", tokens[row], "→", tokens[key], f"{here.max():.3g}"]
    assert code == 0


@pytest.fixture(scope="module")
def decoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny("gpt2", "bpe", tmp_path_factory.mktemp("models") / "decoder")


@pytest.mark.parametrize("level", ["token", "word"])
def test_read_of_a_decoder_has_no_row_without_a_choice_and_no_sinks(monkeypatch, capsys, decoder: Path, level: str) -> None:
    """Row 0 sees itself alone: its weight of 1 hid every other pair, and the first token gets most of every head."""
    text = "the cat sat on the mat"
    code, out, _ = run(monkeypatch, capsys, "read", decoder, text, "--level", level)
    assert code == 0
    assert "Ġ" not in out
    assert "--with-sinks" in out
    with headscope.open(decoder) as lens:
        reading = lens.read(text)
        reading = reading.to_words() if level == "word" else reading
    here = reading.scores()[2, 3]
    here = here[1:-1]  # row 0 has no choice, and the last token is </s>
    beyond = here[:, 1:-1]
    row, key = divmod(int(beyond.argmax()), beyond.shape[1])
    most = int(beyond.sum(0).argmax()) + 1
    texts = [token.replace("Ġ", "") for token in reading.tokens]
    line = next(line.split() for line in out.splitlines() if line.split()[:1] == ["2.3"])
    sinks, share = 1 - beyond.sum() / here.sum(), beyond.sum(0).max() / beyond.sum()
    token, attending, attended = (
        [texts[place], *([f"({place})"] if texts.count(texts[place]) > 1 else [])] for place in (most, row + 1, key + 1)
    )
    assert line[1:-1] == [f"{sinks:.2f}", *token, f"{share:.2f}", *attending, "→", *attended]
    assert line[-1] == f"{beyond.max():.3g}"


def test_a_token_that_comes_twice_has_its_place(monkeypatch, capsys, decoder: Path) -> None:
    command = ("read", decoder, "the cat the cat the cat")
    found = json.loads(run(monkeypatch, capsys, *command, "--json")[1])
    one = found["strongest"][0]
    given = torch.tensor(found["scores"])[0, 0, 1:-1].sum(0)  # row 0 has no choice, and the last token is </s>
    assert one["place"] == int(given.masked_fill(torch.tensor(found["sinks"]), 0).argmax())
    line = next(line for line in run(monkeypatch, capsys, *command)[1].splitlines() if line.split()[:1] == ["0.0"])
    assert f" {one['token']} ({one['place']}) " in line.split("→")[0]


def test_read_of_a_decoder_with_sinks(monkeypatch, capsys, decoder: Path) -> None:
    code, out, _ = run(monkeypatch, capsys, "read", decoder, "the cat sat on the mat", "--with-sinks")
    assert code == 0
    with headscope.open(decoder) as lens:
        here = lens.read("the cat sat on the mat").scores()[1, 2, 1:]
    line = next(line.split() for line in out.splitlines() if line.split()[:1] == ["1.2"])
    assert line[-1] == f"{here.max():.3g}"
    assert f"{here.sum(0).max() / here.sum():.2f}" in line


def test_read_as_json_has_tokens_raw_and_readable(monkeypatch, capsys, decoder: Path) -> None:
    code, out, _ = run(monkeypatch, capsys, "read", decoder, "the cat sat", "--json")
    found = json.loads(out)
    assert code == 0
    assert any("Ġ" in token for token in found["key_tokens"])
    assert [token.replace("Ġ", "") for token in found["key_tokens"]] == found["key_texts"]
    assert found["sinks"] == [True, *[False] * (len(found["key_tokens"]) - 2), True]
    assert found["without_sinks"] is True
    one = found["strongest"][5]
    assert (one["layer"], one["head"]) == (1, 1)
    assert one["link"] == [found["query_texts"][one["places"][0]], found["key_texts"][one["places"][1]]]
    assert one["score"] == pytest.approx(torch.tensor(found["scores"])[1, 1][tuple(one["places"])].item())


def test_read_of_one_token_says_that_nothing_is_left(monkeypatch, capsys, decoder: Path) -> None:
    code, out, _ = run(monkeypatch, capsys, "read", decoder, "a")
    assert code == 0
    assert next(line.split() for line in out.splitlines() if line.split()[:1] == ["0.0"]) == ["0.0", *["-"] * 5]
    assert json.loads(run(monkeypatch, capsys, "read", decoder, "a", "--json")[1])["strongest"][0]["token"] is None


def test_read_of_an_encoder_without_sinks(monkeypatch, capsys, folder: Path) -> None:
    code, out, _ = run(monkeypatch, capsys, "read", folder, "the cats sat", "--without-sinks")
    assert code == 0
    assert "[CLS]  " not in out
    assert "→ [SEP]" not in out


@pytest.mark.parametrize("measure", ["value_norm", "joint_norm", "effective"])
def test_read_takes_every_measure(monkeypatch, capsys, folder: Path, measure: str) -> None:
    assert run(monkeypatch, capsys, "read", folder, "the cats sat", "--measure", measure)[0] == 0


def assert_one_sentence(result: tuple[int, str, str], *parts: str) -> None:
    code, out, err = result
    assert code == 2
    assert out == ""
    assert err.startswith("headscope: ")
    assert err.count("\n") == 1, err
    assert "Traceback" not in err
    for part in parts:
        assert part in err


def test_unknown_model(monkeypatch, capsys) -> None:
    assert_one_sentence(
        run(monkeypatch, capsys, "doctor", "no-such/model-anywhere"), "no-such/model-anywhere", "check the name"
    )


def test_missing_folder(monkeypatch, capsys) -> None:
    assert_one_sentence(run(monkeypatch, capsys, "doctor", "./no/such/folder"), "There is no folder ./no/such/folder")


def test_folder_without_a_config(monkeypatch, capsys, tmp_path: Path) -> None:
    assert_one_sentence(run(monkeypatch, capsys, "doctor", tmp_path), str(tmp_path), "no config.json")


def test_broken_config(monkeypatch, capsys, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{broken")
    assert_one_sentence(run(monkeypatch, capsys, "doctor", tmp_path), "config.json cannot be read")


def test_config_without_weights(monkeypatch, capsys, tmp_path: Path, folder: Path) -> None:
    shutil.copy(folder / "config.json", tmp_path)
    assert_one_sentence(run(monkeypatch, capsys, "doctor", tmp_path), "no weights")


def test_truncated_weights(monkeypatch, capsys, tmp_path: Path, folder: Path) -> None:
    shutil.copytree(folder, tmp_path / "m")
    weights = tmp_path / "m" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    assert_one_sentence(run(monkeypatch, capsys, "doctor", tmp_path / "m"), "cannot be loaded")


def test_model_without_attention(monkeypatch, capsys, tmp_path: Path) -> None:
    from transformers import MambaConfig, MambaForCausalLM

    MambaForCausalLM(MambaConfig(vocab_size=50, hidden_size=16, num_hidden_layers=1, state_size=4)).save_pretrained(tmp_path)
    tiny_tokenizer("bpe").save_pretrained(tmp_path)
    assert_one_sentence(run(monkeypatch, capsys, "doctor", tmp_path), "no softmax attention")


def test_empty_text(monkeypatch, capsys, folder: Path) -> None:
    assert_one_sentence(run(monkeypatch, capsys, "read", folder, "  "), "empty")


def test_long_text_names_the_limit_and_the_flag(monkeypatch, capsys, folder: Path) -> None:
    assert_one_sentence(run(monkeypatch, capsys, "read", folder, "the cat " * 100), "at most 64", "--truncate")
    assert run(monkeypatch, capsys, "read", folder, "the cat " * 100, "--truncate")[0] == 0


def test_file_that_is_no_model(monkeypatch, capsys, tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("x")
    assert_one_sentence(run(monkeypatch, capsys, "doctor", tmp_path / "x.txt"), "is a file, not a model")


def test_broken_gguf(monkeypatch, capsys, tmp_path: Path) -> None:
    (tmp_path / "x.gguf").write_bytes(b"GGUF no")
    assert_one_sentence(run(monkeypatch, capsys, "doctor", tmp_path), "cannot be loaded")


def test_remote_code_is_not_run(monkeypatch, capsys, tmp_path: Path, folder: Path) -> None:
    shutil.copytree(folder, tmp_path / "m")
    config = json.loads((tmp_path / "m" / "config.json").read_text())
    config |= {"model_type": "mine", "auto_map": {"AutoConfig": "mine.Mine", "AutoModel": "mine.MineModel"}}
    (tmp_path / "m" / "config.json").write_text(json.dumps(config))
    (tmp_path / "m" / "mine.py").write_text("raise SystemExit('this code must not run')")
    assert_one_sentence(run(monkeypatch, capsys, "doctor", tmp_path / "m"), "--trust-remote-code")


def test_a_model_is_opened_as_it_is_asked_for(monkeypatch, capsys, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "c.txt").write_text("the cat")
    command = ["study", folder, tmp_path / "c.txt", "-o", tmp_path / "r", "-s", "entropy"]
    assert run(monkeypatch, capsys, *command, "--device", "cpu", "--dtype", "bfloat16")[0] == 0
    manifest = json.loads((tmp_path / "r" / "manifest.json").read_text())
    assert (manifest["model"]["dtype"], manifest["model"]["device"]) == ("bfloat16", "cpu")
    assert_one_sentence(run(monkeypatch, capsys, *command), "another model: dtype was")
    for name, rest in (("doctor", []), ("read", ["the cat"]), ("view", ["the cat"])):
        assert_one_sentence(run(monkeypatch, capsys, name, folder, *rest, "--device", "tpu9"), "'tpu9' is no device")
        assert_one_sentence(run(monkeypatch, capsys, name, folder, *rest, "--dtype", "int"), "'int' is no precision")


def test_no_such_attention(monkeypatch, capsys, folder: Path) -> None:
    read = ["read", folder, "the cat"]
    assert_one_sentence(run(monkeypatch, capsys, *read, "--attention", "crossed"), "no attention 'crossed': write self")


def test_wrong_measure(monkeypatch, capsys, folder: Path) -> None:
    assert_one_sentence(run(monkeypatch, capsys, "read", folder, "the cat", "--measure", "nrom"), "no measure 'nrom'")


def test_study_table_and_compare(monkeypatch, capsys, folder: Path, tmp_path: Path) -> None:
    corpus = tmp_path / "c.txt"
    corpus.write_text("the cat sat\nthe dogs , two dogs .\n")
    for name, extra in (("a", []), ("b", ["--random-init", "0"])):
        code, out, _ = run(monkeypatch, capsys, "study", folder, corpus, "-o", tmp_path / name, "-s", "entropy", *extra)
        assert code == 0
        assert "Counted 2 documents" in out
    code, out, _ = run(monkeypatch, capsys, "table", tmp_path / "a")
    assert out.split() == ["entropy"]
    code, out, _ = run(monkeypatch, capsys, "table", tmp_path / "a", "entropy", "--csv")
    assert out.splitlines()[0].startswith("stack,kind,layer,head,entropy,uniform,entropy_low,entropy_high")
    assert len(out.splitlines()) == 13
    code, out, _ = run(monkeypatch, capsys, "table", tmp_path / "a", "entropy", "--json")
    assert len(json.loads(out)) == 12
    code, out, _ = run(monkeypatch, capsys, "table", tmp_path / "a", "entropy")
    assert "encoder" in out
    code, out, _ = run(monkeypatch, capsys, "compare", tmp_path / "a", tmp_path / "b", "entropy", "--csv")
    assert "entropy_difference" in out.splitlines()[0]


def test_study_says_what_is_wrong(monkeypatch, capsys, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "c.txt").write_text("the cat")
    command = ["study", folder, tmp_path / "c.txt", "-o", tmp_path / "r"]
    assert_one_sentence(run(monkeypatch, capsys, *command, "-s", "entropie"), "no statistic 'entropie'")
    assert_one_sentence(run(monkeypatch, capsys, *command, "-m", "value_norm"), "one number a token")
    assert_one_sentence(run(monkeypatch, capsys, "study", folder, tmp_path / "no.txt", "-o", tmp_path / "r"), "no.txt")
    assert_one_sentence(run(monkeypatch, capsys, "table", tmp_path / "nothing", "entropy"), "not a run directory")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--on-error", "ignore"], "'--on-error': 'ignore' is not one of 'stop', 'skip'"),
        (["--level", "letter"], "'--level': 'letter' is not one of 'token', 'word'"),
        (["--batch-size", "many"], "'--batch-size'"),
        (["--no-such-flag"], "--no-such-flag"),
    ],
)
def test_a_wrong_flag_is_one_sentence(monkeypatch, capsys, folder: Path, tmp_path: Path, given, said: str) -> None:
    (tmp_path / "c.txt").write_text("the cat")
    command = ["study", folder, tmp_path / "c.txt", "-o", tmp_path / "r", *given]
    assert_one_sentence(run(monkeypatch, capsys, *command), said, "; headscope study --help says what it takes.")


def test_a_missing_argument_is_one_sentence_and_none_at_all_is_help(monkeypatch, capsys) -> None:
    assert_one_sentence(run(monkeypatch, capsys, "study"), "Missing argument")
    for given, listed in ((["paper"], "clark2019"), ([], "exemplars")):
        code, out, err = run(monkeypatch, capsys, *given)
        assert (code, "Missing" in err, err.count(f"  {listed}  "), out) == (2, False, 1, "")


def test_study_and_align_check_first(monkeypatch, capsys, folder: Path, tmp_path: Path) -> None:
    """No model is opened for what can be told without it: this one is not there."""
    (tmp_path / "c.txt").write_text("the cat\na dog\n")
    (tmp_path / "pairs.txt").write_text("le chat ||| the cat\n")
    study = ["study", folder, tmp_path / "c.txt", "-o", tmp_path / "r", "-s", "entropy"]
    assert run(monkeypatch, capsys, *study)[0] == 0
    study[1] = "./no/such/model"
    assert_one_sentence(run(monkeypatch, capsys, *study, "--batch-size", "4"), "setting: batch_size was 16 and is 4")
    assert_one_sentence(run(monkeypatch, capsys, *study, "-s", "distance"), "setting: statistics.distance")
    report = [*study[:5], "--report", "--truncate"]
    assert_one_sentence(run(monkeypatch, capsys, *report), "setting: truncate was false and is true")
    (tmp_path / "c.txt").write_text("the dog\na dog\n")
    assert_one_sentence(run(monkeypatch, capsys, *study), "begun with another corpus")
    align = ["align", "./no/such/model", tmp_path / "pairs.txt", "-o", tmp_path / "a"]
    for flag, value in (("--by", "luck"), ("--symmetrise", "none"), ("--setting", "AWX"), ("--measure", "nrom")):
        assert_one_sentence(run(monkeypatch, capsys, *align, flag, value), f"not {value!r}")
    assert_one_sentence(run(monkeypatch, capsys, *align, "--head", "1"), "Give --layer too")
    assert_one_sentence(run(monkeypatch, capsys, *align[:-1], tmp_path), "is not empty and is not a run")


def test_study_sets_what_has_no_flag(monkeypatch, capsys, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "c.conllu").write_text("1\tthe\tthe\tDET\tDT\t_\t2\tdet\t_\t_\n2\tcat\tcat\tNOUN\tNN\t_\t0\troot\t_\t_\n\n")
    command = ["study", folder, tmp_path / "c.conllu", "-o", tmp_path / "r", "-s", "relations"]
    code, _, err = run(monkeypatch, capsys, *command, "--set", "relations.clitics=false", "--set", "relations.variant=code")
    assert code == 0, err
    assert headscope.load_run(tmp_path / "r").tables == ["relations_code_without_clitics"]
    assert_one_sentence(
        run(monkeypatch, capsys, *command, "--set", "mixing.every=2"), "mixing, which is not counted: add -s"
    )
    assert_one_sentence(run(monkeypatch, capsys, *command, "--set", "relations.clitic=no"), "did you mean clitics?")


def test_study_lists_its_statistics(monkeypatch, capsys) -> None:
    code, out, _ = run(monkeypatch, capsys, "study", "--list")
    assert code == 0
    assert "entropy" in out
    assert "first_token" in out


def test_study_as_json(monkeypatch, capsys, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "c.txt").write_text("the cat\na dog\n")
    command = ["study", folder, tmp_path / "c.txt", "-o", tmp_path / "r", "--json", "--level", "word"]
    code, out, _ = run(monkeypatch, capsys, *command)
    found = json.loads(out)
    assert code == 0
    assert found["documents"] == 2
    assert "entropy_words" in found["tables"]


def test_the_version_and_what_a_report_of_a_fault_needs(monkeypatch, capsys) -> None:
    assert run(monkeypatch, capsys, "--version") == (0, f"headscope {headscope.__version__}\n", "")
    code, out, _ = run(monkeypatch, capsys, "--version", "--json")
    told = json.loads(out)
    assert code == 0
    assert (told["headscope"], told["libraries"]["torch"]) == (headscope.__version__, str(torch.__version__))
    assert str(Path.home()) not in out


def test_json_by_itself_is_one_sentence(monkeypatch, capsys) -> None:
    assert_one_sentence(run(monkeypatch, capsys, "--json"), "with --version")
