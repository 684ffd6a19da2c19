"""Names that are code in some language, through every writer: the output is structured as for plain names.

Names of layers, inputs and results, of the file and of the recipes of a search; C, TVMScript, SVG, HTML, JSON, what is
printed, and the binary formats.
"""

from __future__ import annotations

import ast
import json
import random
import re
import shutil
import subprocess
import unicodedata
import xml.dom.minidom
from collections.abc import Callable
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import tvmq
from tests.tools.cli.conftest import cli as cli  # a fixture
from tvmq.base.text import c_comment, printable, printable_name, script_json, xml_text
from tvmq.quantization.search.picture import draw_front

HOSTILE = (
    "</script><script>pwned()</script>", '"><img src=x onerror=pwned()>', "x' onload='pwned()", "<!--<script>]]>",
    r"*\ pwned(); /\* ", "*/ pwned(); /*", "*//*/ pwned();", "?" + "?/\npwned();", "\\\npwned();\\", '"; pwned(); "',
    "${pwned()}{{7*7}}{% raw %}", "\u202epwned\u2028\u2029\x1b[31m\x07\x9b", "a\0pwned", "\U0001f600\ufffe\uffff\u0085",
    "# pwned\n@pwned", "%s%n{0}{pwned}", "'''pwned\"\"\"", "--></svg><pwned>", "__proto__", "]]>&#0;&pwned;",
)  # fmt: skip
PLAIN = tuple(f"layer_{number}" for number in range(len(HOSTILE)))
ENDS = {HOSTILE: ("*/ pwned(); /*\n", '"><pwned> */\\'), PLAIN: ("first", "second")}
Cli = Callable[..., Any]
SAMPLES = np.random.default_rng(0).standard_normal((4, 3, 4, 4)).astype(np.float32)


@dataclass
class Network:
    """A model of these names at all its stages."""

    mod: Any
    params: Any
    module: Any
    exe: tvmq.Executable


def model_of(names: tuple[str, ...]) -> onnx.ModelProto:
    random = np.random.default_rng(0)
    (first, last), value, nodes, weights = ENDS[names], ENDS[names][0], [], []
    for number, name in enumerate(names):
        weight = random.standard_normal((3, 3, 1, 1)).astype(np.float32)
        weights.append(numpy_helper.from_array(weight, f"w{number}"))
        result = last if number == len(names) - 1 else f"r{number}"
        nodes += [helper.make_node("Conv", [value, f"w{number}"], [f"t{number}"], name=name),
                  helper.make_node("Relu", [f"t{number}"], [result], name=name + "/r")]  # fmt: skip
        value = result
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 3, 4, 4]) for name in (first, last)]
    graph = helper.make_graph(nodes, names[0], ends[:1], ends[1:], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def network_of(names: tuple[str, ...]) -> Network:
    mod, params = tvmq.from_onnx(model_of(names))
    options = {"calibrate_mode": "minmax", "weight_rounding": "nearest", "bias_correction": False}
    with tvmq.qconfig(**options, partition_conversions="fully_integral"):
        module = tvmq.quantize(mod, params, list(SAMPLES[:, None]), guard=None, target="tflite")
    return Network(mod, params, module, tvmq.build(module))


@pytest.fixture(scope="module")
def networks() -> tuple[Network, Network]:
    """Two networks: one with hostile names, one with plain ones."""
    return network_of(HOSTILE), network_of(PLAIN)


# ---- C


def c_tokens(text: str) -> list[str]:
    """The kinds of tokens that a compiler sees: trigraphs and joined lines first, then comments go."""
    text = text.replace("??/", "\\").replace("\\\n", "")
    text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.DOTALL)
    tokens = re.findall(r'"[^"\n]*"|[A-Za-z_]\w*|[0-9][\w.+]*|\S', text)
    return ["name" if re.match(r"[A-Za-z_]", token) else "number" if token[0].isdigit() else token for token in tokens]


@pytest.mark.slow
def test_c(networks: tuple[Network, Network], tmp_path: Path) -> None:
    hostile, plain = (tvmq.export_c(network.module, tmp_path / str(number)) for number, network in enumerate(networks))
    for name in ("source", "header"):
        one, other = (getattr(export, name).read_text() for export in (hostile, plain))
        assert one.isascii() and c_tokens(one) == c_tokens(other)
    assert "pwned" in hostile.source.read_text(), "names are there, in comments"
    if shutil.which("gcc"):
        command = ["gcc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only", "-trigraphs"]
        done = subprocess.run([*command, hostile.source], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        (tmp_path / "main.c").write_text(f'#include "{hostile.header.name}"\nint main(void) {{ return 0; }}\n')
        program = [f"-I{hostile.header.parent}", tmp_path / "main.c", hostile.source, "-lm", "-o", tmp_path / "program"]
        done = subprocess.run(["gcc", "-std=c99", "-Wall", "-Werror", *program], capture_output=True, text=True)
        assert done.returncode == 0, f"it calls what names say: {done.stderr}"
        assert subprocess.run([tmp_path / "program"]).returncode == 0


@pytest.mark.slow
def test_identifiers_of_c_differ_in_upper_case(networks: tuple[Network, Network], tmp_path: Path) -> None:
    header = tvmq.export_c(networks[0].module, tmp_path).header.read_text()
    (parameters,) = re.findall(r"_run\((.*)\);", header)
    assert all(re.fullmatch(r"(const )?\w+ \*[A-Za-z]\w*", one) for one in parameters.split(", "))


# ---- TVMScript


@pytest.mark.parametrize("stage", ["mod", "module"])
def test_tvmscript(networks: tuple[Network, Network], stage: str) -> None:
    hostile, plain = (ast.parse(tvmq.script(getattr(network, stage))) for network in networks)
    assert [type(node) for node in ast.walk(hostile)] == [type(node) for node in ast.walk(plain)]


# ---- what torch generates, Relay's text


@pytest.mark.parametrize("form", ["exact", "quantized_decomposed"])
def test_torch(networks: tuple[Network, Network], form: str) -> None:
    """fx writes Python of the names of inputs and buffers, and runs it."""
    pytest.importorskip("torch")
    from tvmq.formats.torch.exporter.to_torch import to_torch

    options = {"form": "exact"} if form == "exact" else {}
    hostile, plain = (ast.parse(str(to_torch(network.module, **options).code)) for network in networks)
    assert [type(node) for node in ast.walk(hostile)] == [type(node) for node in ast.walk(plain)]


def test_relay() -> None:
    from tvmq import relay

    def text(name: str) -> str:
        x = relay.var(name, shape=(2,))
        return str(relay.astext(relay.Function([x], x * relay.const(0.5))))

    shape = re.sub(r"%[\w/.:]+", "%x", text("plain"))
    for name in HOSTILE:
        assert re.sub(r"%[\w/.:]+", "%x", text(name)) == shape, name


# ---- SVG and HTML


def elements(svg: str) -> set[tuple[str, ...]]:
    """Tags with the names of their attributes."""
    document = xml.dom.minidom.parseString(svg.encode())
    return {(node.tagName, *sorted(node.attributes.keys())) for node in document.getElementsByTagName("*")}


@pytest.mark.parametrize("stage", ["mod", "module", "exe"])
@pytest.mark.parametrize("detail", ["operators", "layers", "blocks"])
def test_drawings(networks: tuple[Network, Network], stage: str, detail: str) -> None:
    hostile, plain = (tvmq.draw(getattr(network, stage), detail=detail).svg for network in networks)
    assert elements(hostile) == elements(plain)


FRONT: dict[str, Any] = {"points": [{"name": "a", "drop": 0, "low": 0, "high": 0.1, "seconds": 1e-3, "bytes": 5, "recipe": {"a": "b"}},
                    {"name": "b", "drop": 0.1, "low": 0, "high": 1, "seconds": 5e-4, "bytes": 3, "recipe": {}}],
         "best": "a", "goal": {"minimize": "size", "a": "b"}, "float": {"seconds": 1, "bytes": 2, "score": 0}}  # fmt: skip


def hostile_front(value: Any, words: list[str]) -> Any:
    """A front with other texts in all places for texts."""
    if isinstance(value, dict):
        kept = {"points", "best", "goal", "float", "name", "recipe", "minimize", *FRONT["points"][0], *FRONT["float"]}
        return {key if key in kept else words.pop(): hostile_front(item, words) for key, item in value.items()}
    if isinstance(value, list):
        return [hostile_front(item, words) for item in value]
    return words.pop() if isinstance(value, str) else value


def test_the_picture_of_a_front() -> None:
    for seed in range(len(HOSTILE)):
        words = list(HOSTILE[seed:] + HOSTILE[:seed])
        front = hostile_front(FRONT, words)
        assert {one[0] for one in elements(draw_front(front))} == {one[0] for one in elements(draw_front(FRONT))}


class Page(HTMLParser):
    """Tags with the names of their attributes, and the contents of script elements."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[tuple[str, ...]] = set()
        self.scripts: list[str] = []
        self.inside = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add((tag, *sorted(name for name, _ in attrs)))
        self.inside = tag

    def handle_data(self, data: str) -> None:
        if self.inside == "script":
            self.scripts.append(data)

    def handle_endtag(self, _tag: str) -> None:
        self.inside = ""


def test_the_page_of_a_report(networks: tuple[Network, Network], cli: Cli, tmp_path: Path) -> None:
    pytest.importorskip("jinja2", reason="in the extra report")
    pages = []
    files = (('"><svg onload=pwned()>.tvmq', list(HOSTILE)), ("plain.tvmq", []))
    for network, (name, words) in zip(networks, files, strict=True):
        network.exe.save(tmp_path / name)
        front = hostile_front(FRONT, words) if words else FRONT
        (tmp_path / "front.json").write_text(json.dumps(front), encoding="utf-8")
        output = tmp_path / "page.html"
        done = cli("report", tmp_path / name, "--search", tmp_path / "front.json", "-o", output, "--quiet")
        assert done.code == 0, done.err
        pages.append(Page(output.read_text(encoding="utf-8")))
    hostile, plain = pages
    assert hostile.tags == plain.tags and len(hostile.scripts) == len(plain.scripts) == 2
    assert hostile.scripts[1] == plain.scripts[1]
    assert json.loads(hostile.scripts[0]).keys() == json.loads(plain.scripts[0]).keys()


# ---- what is printed


def moves_a_cursor(text: str) -> list[str]:
    """Characters that a terminal or an editor obeys, or that nobody sees."""
    return [char for char in text if char != "\n" and unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp")]


PRINTED: dict[str, Callable[[Network], object]] = {
    "explain": lambda network: tvmq.explain(network.module),
    "explain, compiled": lambda network: tvmq.explain(network.exe),
    "inspect": lambda network: tvmq.inspect(network.mod, network.params),
    "verify": lambda network: tvmq.verify(network.exe, {network.exe.input_info[0].name: SAMPLES[:1]}),
    "compare": lambda network: tvmq.compare((network.mod, network.params), network.module, list(SAMPLES[:, None])),
    "check_backend": lambda network: tvmq.check_backend(network.module, "tflite"),
    "emulate": lambda network: tvmq.emulate(network.module, "tflite"),
    "script": lambda network: tvmq.script(network.module),
    "draw": lambda network: repr(tvmq.draw(network.exe)),
    "executable": lambda network: repr(network.exe),
    "inputs": lambda network: [network.exe.input_info, network.exe.output_info],
}


@pytest.mark.parametrize("name", PRINTED)
def test_what_is_printed(networks: tuple[Network, Network], name: str) -> None:
    hostile, plain = (str(PRINTED[name](network)) for network in networks)
    assert moves_a_cursor(hostile) == [] and hostile.count("\n") == plain.count("\n")


@pytest.mark.parametrize("command", ["explain", "verify", "bench", "inspect", "run"])
@pytest.mark.slow_cases("inspect")
def test_what_commands_print(networks: tuple[Network, Network], cli: Cli, tmp_path: Path, command: str) -> None:
    onnx.save(model_of(HOSTILE), tmp_path / "net.onnx")
    networks[0].exe.save(tmp_path / "net.tvmq")
    file = tmp_path / ("net.onnx" if command == "inspect" else "net.tvmq")
    np.savez(tmp_path / "data.npz", **{networks[0].exe.input_info[0].name.replace("/", "_"): SAMPLES})
    np.save(tmp_path / "data.npy", SAMPLES)
    options = {"verify": ["--data", tmp_path / "data.npy"], "run": ["--data", tmp_path / "data.npy"]}.get(command, [])
    for as_json in ([], ["--json"]):
        done = cli(command, file, *options, *as_json)
        assert done.code == 0, done.err
        assert moves_a_cursor(done.out + done.err) == []
    json.loads(done.out)


def test_messages(cli: Cli, tmp_path: Path) -> None:
    for number, name in enumerate(HOSTILE):
        model = model_of(PLAIN)
        model.graph.node[0].name, model.graph.node[0].op_type = name, name
        model.graph.node[1].attribute.append(helper.make_attribute("pwned", name))
        model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = name
        onnx.save(model, tmp_path / f"{number}.onnx")
        done = cli("inspect", tmp_path / f"{number}.onnx", "--quiet")
        assert done.code == 1 and moves_a_cursor(done.err) == [] and done.err.count("\n") == 1, done.err
        done = cli("inspect", tmp_path / f"{name.replace('/', '_')[:99]}\x1b\n.onnx".replace("\0", ""), "--quiet")
        assert done.code == 1 and moves_a_cursor(done.err) == [] and done.err.count("\n") == 1, done.err


# ---- files of other formats


def test_files_of_other_formats(networks: tuple[Network, Network], tmp_path: Path) -> None:
    network = networks[0]
    tvmq.to_onnx(network.module, tmp_path / "net.onnx")
    written = onnx.load(tmp_path / "net.onnx")
    onnx.checker.check_model(written)
    assert [one.name for one in (*written.graph.input, *written.graph.output)] == [
        printable_name(name) for name in ENDS[HOSTILE]
    ]
    for package, write in (("tosa_serializer", tvmq.to_tosa), ("tflite", tvmq.to_tflite)):
        if pytest.importorskip(package):
            write(network.module, tmp_path / package)
            assert (tmp_path / package).stat().st_size > 0


# ---- the functions by themselves


def random_texts(count: int) -> list[str]:
    """Texts made of characters that mean something in these languages."""
    drawn = random.Random(0)
    pieces = [*"*/\\?<>&'\"-!]%{}#\n\r\t\0 ax", "\x1b", "\x9b", "\u202e", "\u2028", "\ufffe", "\ud800", "\U0001f600", "]]>"]
    return ["".join(drawn.choice(pieces) for _ in range(drawn.randrange(12))) for _ in range(count)]


def test_random_texts_stay_inside_of_what_holds_them() -> None:
    for text in (*HOSTILE, *random_texts(3000)):
        comment = c_comment(text)
        assert c_tokens(f"/* {comment} */ x /* {comment}*/") == ["name"], text
        assert comment.isascii() and "\n" not in comment and "?" "?" not in comment and "/*" not in comment
        document = xml.dom.minidom.parseString(f"<a b=\"{xml_text(text)}\" c='{xml_text(text)}'>{xml_text(text)}</a>".encode())
        (element,) = document.getElementsByTagName("*")
        assert set(element.attributes.keys()) == {"b", "c"}
        inside = script_json({text: [text]})
        assert not set(inside) & set("<>&\u2028\u2029") and json.loads(inside) == {text: [text]}
        assert moves_a_cursor(printable(text)) == []
