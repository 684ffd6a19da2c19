"""run, verify, explain and bench, with fakes in place of TVM."""

import json
import os

import numpy as np
import pytest

from tvmq.tools.cli.console import step
from tvmq.tools.cli.demo import print_comparison


def test_run_any_number_of_samples(cli, fake, samples, tmp_path):
    output = tmp_path / "y.npz"
    result = cli("run", "m.tvmq", "--data", samples, "-o", output, "--sha256", "ab")
    assert result.code == 0
    x = np.load(samples)["x"]
    assert np.array_equal(np.load(output)["y"], 2 * x)
    assert [len(batch) for batch in fake.exe.fed] == [2, 2, 2]
    assert fake.loaded.sha256 == "ab"
    assert "(5, 3)" in result.out and str(output) in result.out


def test_run_json_holds_the_values(cli, fake, samples):
    printed = json.loads(cli("run", "m.tvmq", "--data", samples, "--json").out)
    assert printed["outputs"]["y"]["values"] == (2 * np.load(samples)["x"]).tolist()
    assert printed["outputs"]["y"]["dtype"] == "float32" and printed["saved"] is None


def test_run_refuses_outputs_that_have_no_samples(cli, fake, samples):
    fake.exe.output_info[0].shape = ()
    result = cli("run", "m.tvmq", "--data", samples)
    assert result.code == 1
    assert "output 'y' of shape () does not have one row per sample; give exactly 2 samples" in result.err


def test_run_one_whole_batch_may_have_any_output(cli, fake, tmp_path):
    fake.exe.output_info[0].shape = ()
    np.save(tmp_path / "x.npy", np.ones((2, 3), np.float32))
    assert cli("run", "m.tvmq", "--data", tmp_path / "x.npy").code == 0


def test_verify(cli, fake, samples):
    result = cli("verify", "m.tvmq", "--data", samples, "--samples", 4)
    assert (result.code, result.out) == (0, "exact: yes\n")
    assert fake.verified == [(2, 3), (2, 3)]


def test_verify_fails_where_values_differ(cli, fake, samples):
    fake.report.exact = False
    result = cli("verify", "m.tvmq", "--data", samples)
    assert (result.code, result.out) == (1, "exact: no\n")
    assert json.loads(cli("verify", "m.tvmq", "--data", samples, "--json").out)["exact"] is False


def test_verify_of_samples_in_other_surroundings(cli, fake, samples, monkeypatch):
    asked = {}

    def check(exe, arrays, **options):
        asked.update(options, names=list(arrays))
        options.pop("advance")()
        return fake.report

    fake.report.holds = True
    monkeypatch.setattr("tvmq.check_invariance", check, raising=False)
    result = cli("verify", "m.tvmq", "--data", samples, "--invariance", "--mask", "mask", "--left")
    assert (result.code, asked["mask"], asked["left"], asked["samples"], asked["names"]) == (0, "mask", True, 8, ["x"])
    fake.report.holds = False
    assert cli("verify", "m.tvmq", "--data", samples, "--invariance").code == 1


def test_explain(cli, fake):
    assert cli("explain", "m.tvmq").out == "exact: yes\n"
    assert json.loads(cli("explain", "m.tvmq", "--json").out) == fake.report.to_dict()


def test_bench(cli, fake, samples):
    result = cli("bench", "m.tvmq", "--data", samples)
    assert result.code == 0 and "2.0 ms" in result.out
    assert np.array_equal(fake.exe.fed[0], np.load(samples)["x"][:2])
    printed = json.loads(cli("bench", "m.tvmq", "--json", "--threads", 2).out)
    assert (printed["median"], printed["threads"], printed["repeat"]) == (0.002, 2, 50)


def test_bench_makes_its_own_inputs(cli, fake):
    cli("bench", "m.tvmq")
    cli("bench", "m.tvmq")
    first, second = fake.exe.fed
    assert np.array_equal(first, second) and first.min() >= 0 and 0.5 < first.max() <= 1
    fake.exe.input_info[0].dtype = "uint8"
    cli("bench", "m.tvmq")
    assert fake.exe.fed[2].dtype == np.uint8 and fake.exe.fed[2].max() > 20


def test_nothing_is_left_after_an_interrupt(cli, fake, samples, tmp_path):
    def interrupted(feed):
        raise KeyboardInterrupt

    fake.exe.run = interrupted
    before = sorted(os.listdir(tmp_path))
    assert cli("run", "m.tvmq", "--data", samples, "-o", tmp_path / "y.npz").code == 130
    assert sorted(os.listdir(tmp_path)) == before


def test_progress_is_plain_in_a_log(capsys):
    with step("calibrate", 3) as advance:
        for _ in range(3):
            advance()
    first, second = capsys.readouterr().err.splitlines()
    assert first == "calibrate ..." and second.startswith("calibrate: ")


@pytest.mark.slow
def test_progress_is_a_bar_on_a_terminal(capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    with step("calibrate", 3) as advance:
        for _ in range(3):
            advance()
    assert "3/3" in capsys.readouterr().err


def test_progress_as_a_share(capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    with step("quantize", 4, counted=False) as advance:
        for _ in range(4):
            advance()
    shown = capsys.readouterr().err
    assert "100 %" in shown and "left" in shown and "4/4" not in shown


def test_quiet_progress_prints_nothing(capsys):
    with step("calibrate", 3, quiet=True) as advance:
        advance()
    assert capsys.readouterr() == ("", "")


def test_demo_shows_both_models_side_by_side(capsys):
    sides = {"float_accuracy": 0.98, "int8_accuracy": 0.978, "float_bytes": 176003, "int8_bytes": 91234}
    result = {**sides, "float_seconds": 4e-4, "int8_seconds": 1.5e-4, "agreement": 0.996, "exact": True}
    print_comparison({**result, "ledger": "  20 of 21 operators in int8", "saved": "digits.tvmq"}, 500)
    assert capsys.readouterr().out.splitlines() == [
        "                              float      int8",
        "  accuracy                   98.00%    97.80%",
        "  saved, code and weights  176.0 kB   91.2 kB",
        "  latency, 1 thread        400.0 us  150.0 us",
        "  same class on 99.60% of 500 pictures",
        "  compiled equals the NumPy definition, bit for bit: yes",
        "  20 of 21 operators in int8",
        "  saved digits.tvmq",
    ]


def test_build_for_several_cpus(cli, fake, tmp_path):
    output = tmp_path / "fat.tvmq"
    result = cli("build", "m.tvmq", "--target", "avx2", "--target", "avx512-vnni", "-o", output, "--sha256", "12")
    assert (result.code, fake.loaded.path.name, fake.loaded.sha256) == (0, "m.tvmq", "12")
    assert (fake.built.mod, fake.built.target) == ("its module", ["avx2", "avx512-vnni"])
    assert output.read_bytes() == b"saved" and "haswell, znver4" in result.out and "e1b2" in result.out
    printed = json.loads(cli("build", "m.tvmq", "-o", output, "--json").out)
    assert (fake.built.target, printed["targets"], printed["output_bytes"]) == ("llvm", ["haswell", "znver4"], 5)
    assert fake.built.lowerings is None


def test_build_with_lowerings(cli, fake, tmp_path):
    fake.exe.lowerings = {
        "names": [{"name": "conv", "kind": "own function", "begins": "nn.conv2d"}],
        "taken": [{"lowering": "conv", "layers": ["/conv"]}],
    }
    result = cli("build", "m.tvmq", "--lowering", "chip:CONV", "--lowering", "chip:ADD", "-o", tmp_path / "chip.tvmq")
    assert fake.built.lowerings == ["chip:CONV", "chip:ADD"]
    assert "lowering 'conv' (own function) computes /conv" in result.out
