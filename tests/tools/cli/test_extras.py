"""Extras that are missing are named before the work, with the line for pip."""

from __future__ import annotations

import sys

import pytest

from tvmq.errors import ConfigError
from tvmq.tools.cli.extras import check_extra


def test_a_package_that_is_not_there(monkeypatch):
    with pytest.raises(ConfigError, match=r"^report: no_such_package, which writes the page, is not installed; pip "):
        check_extra("report", "no_such_package", "which writes the page", "report")
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ConfigError, match=r"pip install 'tvmq\[report\]'$"):
        check_extra("report", "jinja2", "which writes the page", "report")
    check_extra("report", "numpy", "which writes the page", "report")


@pytest.mark.parametrize(("command", "package"), [("report", "jinja2"), ("search", "scipy")])
def test_a_command_says_so_before_it_reads_the_model(cli, tmp_path, monkeypatch, command, package):
    monkeypatch.setitem(sys.modules, package, None)
    (tmp_path / "m.onnx").write_bytes(b"no model")
    monkeypatch.chdir(tmp_path)
    import numpy as np

    np.save("x.npy", np.zeros(3))
    result = cli(command, "m.onnx", "--data", "x.npy")
    assert result.code == 1 and f"tvmq: {command}: {package}, " in result.err and "is not installed" in result.err
