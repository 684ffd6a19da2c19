"""`tvmq backend`: descriptions shown and checked; `--backend mychip.json` refuses what cannot be compiled."""

import json

import pytest

from tests.backends.test_json_form import INVENTED
from tvmq.backends import BACKENDS, backend_named
from tvmq.backends.description import Backend


@pytest.mark.parametrize("name", BACKENDS)
def test_show_prints_what_check_takes(cli, tmp_path, name):
    shown = cli("backend", "show", name)
    assert shown.code == 0 and Backend.from_json(shown.out) == backend_named(name)
    path = tmp_path / "mychip.json"
    path.write_text(shown.out)
    assert cli("backend", "check", path).out.startswith(f"{path}: describes {name}, with ")


def test_check_says_what_follows(cli, tmp_path):
    path = tmp_path / "mychip.json"
    path.write_text(json.dumps({"name": "mychip", **INVENTED["shifts"]}))
    said = cli("backend", "check", path).out
    assert "options that it implies: qconfig(dtype_input='int8'" in said and "bit-exact only in tvmq.emulate: " in said
    facts = json.loads(cli("backend", "check", path, "--json").out)
    assert facts["name"] == "mychip" and facts["options"]["requantize"] == "power_of_two" and facts["entries"] == 0


def test_check_says_what_is_wrong(cli, tmp_path):
    path = tmp_path / "mychip.json"
    path.write_text('{"name": "mychip", "activatoins": ["int8"]}')
    found = cli("backend", "check", path)
    assert (
        found.code == 1
        and f"{path}: activatoins: unknown field" in found.err
        and "did you mean 'activations'" in found.err
    )


def test_actions_are_words(cli):
    found = cli("backend", "shwo", "cpu")
    assert found.code == 1 and "action must be one of show, check. Got 'shwo' instead; did you mean 'show'?" in found.err


def test_what_is_saved_is_compiled(cli, tmp_path):
    path, model, data = tmp_path / "mychip.json", tmp_path / "m.onnx", tmp_path / "x.npz"
    path.write_text(json.dumps({"name": "mychip", **INVENTED["shifts"]}))
    model.write_bytes(b"")
    found = cli("quantize", model, "--backend", path)
    assert found.code == 1 and "saved models are compiled; use tvmq.quantize and tvmq.emulate" in found.err, data
