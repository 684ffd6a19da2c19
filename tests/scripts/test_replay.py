"""tools/replay.py: dumps of equal trees are equal, another constant is a difference, and a refusal is recorded."""

import importlib.util
import json
import sys

import pytest

from tests.support.models.networks import Net
from tests.support.project import ROOT

CASE = "golden/input_returned"  # the cheapest


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("replay", ROOT / "tools" / "replay.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["replay"] = module  # its dataclass looks itself up there
    spec.loader.exec_module(module)
    yield module
    del sys.modules["replay"]


@pytest.fixture
def dump(tool, tmp_path, monkeypatch):
    """Writes a dump of one case to a folder of that name."""
    monkeypatch.setenv("TVMQ_CACHE", "")
    monkeypatch.setattr(sys, "path", [*sys.path])

    def write(name):
        tool.main(["dump", str(tmp_path / name), "--only", CASE, "--zoo", str(tmp_path)])
        return tmp_path / name

    return write


def compared(tool, capsys, before, after, *options):
    """Exit code and what is printed."""
    capsys.readouterr()
    with pytest.raises(SystemExit) as end:
        tool.main(["compare", str(before), str(after), *options])
    return end.value.code, capsys.readouterr().out.splitlines()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_two_dumps_of_one_tree_are_equal_and_another_constant_is_seen(tool, dump, capsys, monkeypatch):
    before, after = dump("before"), dump("after")
    hashes = json.loads((before / f"{CASE}.json").read_text())
    kinds = {key.partition("/")[0] for key in hashes}
    assert kinds >= {"quantized.script", "quantized.json", "float", "here", "lesser", "cuda", "kernel"}
    assert "lesser/1/kernels.so" in hashes
    assert compared(tool, capsys, before, after) == (False, [f"0 differences in {len(hashes)} hashes"])
    weight = Net.weight
    monkeypatch.setattr(Net, "weight", lambda self, *shape: 2 * weight(self, *shape))
    code, lines = compared(tool, capsys, before, dump("changed"))
    assert code and f"{CASE}/here/vm.bin: differs" in lines and lines[-1].endswith(f"{len(hashes)} hashes")


def test_a_refusal_is_its_message(tool, tmp_path):
    net = Net((1, 3))
    model = net.model(net.op("Relu", "x"))
    model.graph.node[0].op_type = "Nonsense"
    dump = tool.Dump(tmp_path, "case", False)
    tool.record(dump, tool.Case("case", lambda: (model, None)))
    assert list(dump.hashes) == ["import"] and "Nonsense" in dump.hashes["import"]


def test_an_empty_folder_is_no_dump(tool, tmp_path):
    with pytest.raises(SystemExit, match="holds no dump"):
        tool.main(["compare", str(tmp_path), str(tmp_path)])


def test_what_is_on_one_side_alone_is_a_difference(tool):
    assert tool.differences({"a": "1", "b": "1"}, {"b": "1", "c": "2"}) == ["a: before alone", "c: after alone"]


def test_names_may_change_and_nothing_else(tool, tmp_path, capsys):
    for folder, name, number in (("before", "old_sum", 1), ("after", "new_sum", 1), ("changed", "new_sum", 2)):
        dump = tool.Dump(tmp_path / folder, "golden/case", True)
        dump.add("quantized.script", f"call {name}")
        text = f"def {name}(): {number}"
        dump.add(f"kernel/{tool.hashlib.sha256(text.encode()).hexdigest()[:16]}", text)
        dump.write()
    before, after, changed = (tmp_path / folder for folder in ("before", "after", "changed"))
    assert compared(tool, capsys, before, after)[0]
    assert compared(tool, capsys, before, after, "--renamed", "old_=new_") == (False, ["0 differences in 2 hashes"])
    code, lines = compared(tool, capsys, before, changed, "--renamed", "old_=new_")
    assert code and len(lines) == 3 and all("/kernel/" in line for line in lines[:2])
    with pytest.raises(SystemExit, match="holds no texts"):
        tool.main(["compare", str(tmp_path / "none"), str(after), "--renamed", "a=b"])
