"""The reference of Python names: pages of autodoc directives, by what one wants to do."""

from __future__ import annotations

import importlib
import inspect
import re
from typing import Any

from pages import Page, rst, toctree
from plain_docstrings import to_rst

import tvmq

# Page, title, names of tvmq.__all__
PUBLIC = [
    ("models", "Models in", "from_onnx from_torch from_relax"),
    ("quantizing", "Quantize", "quantize quantize_model Guard run_calibration observe find_outliers CalibrationResult"),
    ("search", "Search", "search SearchSpace"),
    ("options", "Options and rules", "qconfig current_qconfig QConfig Rule QuantSpec QParams"),
    ("tensors", "Quantized tensors", "QTensor quantize_tensor functional"),
    ("running", "Build, run, save, test", "build load Executable testing"),
    ("looking", "Explain, compare, verify", """inspect explain draw script compare
        compare_dumps activations verify check_invariance reference"""),
    ("language", "Write text with language models", "generate replay"),
    ("targets", "Accelerators, and formats out", """Backend check_backend Lowering emulate conformance
        check_conformance identify_requantize to_onnx to_tflite to_tosa to_torch export_c
        export_library"""),
    ("extending", "Passes, operators, observers of your own", "extension"),
]
# On a page of its own (error_pages.py), and a text
ELSEWHERE = ("errors", "__version__")
# Page, title, modules: parts that one writes own passes, observers and backends with
MODULES = [
    ("results", "What the functions return", """tvmq.tools.analysis.explanation tvmq.tools.analysis.comparison
        tvmq.tools.analysis.verification tvmq.chips.comparison.conformity tvmq.tools.analysis.forecast_report
        tvmq.runtime.profile tvmq.runtime.timing tvmq.calibration.observers.result tvmq.quantization.search.front
        tvmq.tools.cli.quantize_model tvmq.calibration.data.picture_preprocessing"""),
    ("observers", "Observers", """tvmq.calibration.observers tvmq.calibration.observers.base
        tvmq.calibration.observers.minmax tvmq.calibration.observers.histogram
        tvmq.calibration.observers.kl_divergence tvmq.calibration.observers.auto
        tvmq.calibration.observers.weight_observers tvmq.calibration.observers.lane_weights"""),
    ("backends", "Backend descriptions", """tvmq.backends tvmq.backends.operator_entry
        tvmq.backends.tensor_forms tvmq.backends.cpu tvmq.backends.cpu_with_dot_product
        tvmq.backends.cpu_without_vnni tvmq.backends.tensorrt tvmq.backends.tflite tvmq.backends.tosa
        tvmq.backends.cmsis_nn tvmq.numerics.known_rules"""),
    ("graph", "Graphs: names, views, rewriting", """tvmq.graph tvmq.graph.names tvmq.graph.ledger tvmq.graph.view
        tvmq.graph.rewrite tvmq.graph.module_functions tvmq.graph.evaluate"""),
    ("data", "Data, the example, the cache", "tvmq.calibration.dataset tvmq.demo tvmq.base.cache"),
]  # fmt: skip
RELAY = [
    ("quantize", "relay.quantize", "tvmq.relay.quantize.quantize tvmq.relay.quantize.thresholds"),
    ("build", "Build and run", """tvmq.relay.build_module tvmq.relay.graph_executor
        tvmq.relay.executor_factory tvmq.relay.vm"""),
    ("expressions", "Expressions, types, modules", """tvmq.relay.expr tvmq.relay.types tvmq.relay.module
        tvmq.relay.visitor tvmq.relay.analysis tvmq.relay.transform"""),
    ("qnn", "relay.qnn.op", "tvmq.relay.op.qnn"),
    ("text", "Text and front ends", "tvmq.relay.text.printer tvmq.relay.text.reader tvmq.relay.frontend"),
    ("networks", "Networks for tests", """tvmq.relay.testing tvmq.relay.testing.init tvmq.relay.testing.small
        tvmq.relay.testing.chain_networks tvmq.relay.testing.branches tvmq.relay.testing.resnet"""),
]  # fmt: skip


def pages() -> list[Page]:
    """All of them, with an overview."""
    public = [_public_page(*row) for row in groups()]
    modules = [_modules_page("reference/api/", *row) for row in MODULES]
    relay = [_modules_page("reference/relay/", *row) for row in RELAY]
    return [_overview(), *public, *modules, _relay_overview(), *relay, _operators("nn"), _operators("")]


def groups() -> list[tuple[str, str, str]]:
    """Groups of PUBLIC, and a further one of the names on none of its pages."""
    known = {name for _, _, names in PUBLIC for name in names.split()} | set(ELSEWHERE)
    missing = [name for name in tvmq.__all__ if name not in known]
    return PUBLIC + ([("others", "Others", " ".join(missing))] if missing else [])


def first_sentence(value: Any) -> str:
    """The first paragraph of a docstring, on one line, as reStructuredText."""
    return " ".join(to_rst((inspect.getdoc(value) or "").split("\n\n")[0])).strip()


def links(module: str) -> dict[str, str]:
    """Names in the docstrings of a module -> what they link to."""
    if module.startswith("tvmq.relay"):
        found = {}
    else:
        found = {name: f"tvmq.{name}" for name in tvmq.__all__ if name not in ELSEWHERE}
    if module.startswith("tvmq.numerics"):
        found = {name: f"tvmq.numerics.{name}" for name in importlib.import_module("tvmq.numerics").__all__}
    return found | {name: f"tvmq.errors.{name}" for name in vars(tvmq.errors) if name.endswith("Error")}


def _overview() -> Page:
    lines = ["# Python\n", "The names of `tvmq` are the public interface; all else on these pages may change.\n"]
    for page, title, names in groups():
        lines += [f"## [{title}](api/{page}.md)\n"]
        lines += [rst(_table([(f":py:obj:`tvmq.{name}`", getattr(tvmq, name)) for name in names.split()]))]
    below = [f"api/{page}" for page, _, _ in groups() + MODULES]
    errors = "[Errors](errors.md) and [the numeric definition](numerics.md) have pages of their own.\n"
    parts = [f"- [{title}](api/{page}.md)" for page, title, _ in MODULES]
    return Page("reference/api", "\n".join([*lines, errors, "## Parts\n", *parts, "", toctree(below, hidden=True)]))


def _table(rows: list[tuple[str, Any]]) -> list[str]:
    lines = [".. list-table::", "   :class: names", "   :widths: auto", ""]
    for name, value in rows:
        sentence = QCONFIG if value is tvmq.qconfig else first_sentence(value)
        lines += [f"   * - {name}", f"     - {sentence}"]
    return lines


QCONFIG = "The options of the quantizer, used in a ``with`` statement or passed as ``config=``."


def _public_page(page: str, title: str, names: str) -> Page:
    return Page(f"reference/api/{page}", f"# {title}\n\n" + "\n".join(_object("tvmq", name) for name in names.split()))


def _object(module: str, name: str, value: Any = None) -> str:
    """The directives of one name."""
    value = getattr(importlib.import_module(module), name) if value is None else value
    if inspect.ismodule(value):
        return f"(module-{name})=\n## {module}.{name}\n\n" + module_text(value.__name__, module + "." + name)
    if name == "qconfig" and module == "tvmq":
        return _qconfig()
    if inspect.isclass(value):
        return rst([f".. autoclass:: {module}.{name}", "   :members:", ""])
    return rst([f".. autofunction:: {module}.{name}", ""])


def _qconfig() -> str:
    """qconfig is an object, so that it can be called and has a `relay` too: its options are written out."""
    from tvmq.options.config import OPTION_HELP, QConfig

    lines = [".. py:function:: tvmq.qconfig(**options)", ""]
    lines += [f"   {QCONFIG}"]
    lines += ["   ``tvmq.qconfig.relay(**options)`` begins with the defaults of Relay's quantizer.", ""]
    lines += ["   .. list-table::", "      :class: columns", "      :header-rows: 1", "      :widths: auto", ""]
    lines += ["      * - option", "        - default", "        - meaning"]
    defaults = QConfig()
    for name, text in OPTION_HELP.items():
        lines += [f"      * - ``{name}``", f"        - ``{getattr(defaults, name)!r}``"]
        lines += [f"        - {' '.join(to_rst(text)).strip()}"]
    return rst(lines)


def _modules_page(folder: str, page: str, title: str, names: str) -> Page:
    parts = [f"# {title}\n"]
    for name in names.split():
        parts += [f"## {name}\n", module_text(name, name)]
    return Page(folder + page, "\n".join(parts))


def module_text(name: str, shown: str) -> str:
    """Docstring of a module and directives of what it defines."""
    module = importlib.import_module(name)
    text = rst(to_rst(module.__doc__ or "", links(name)))
    public = [f"tvmq.{n}" for n in tvmq.__all__]
    own = [
        _object(name, key, value)
        for key, value in vars(module).items()
        if not key.startswith("_")
        and (inspect.isfunction(value) or inspect.isclass(value))
        and value.__module__ == name
        and not (f"tvmq.{key}" in public and getattr(tvmq, key) is value)
    ]
    return "\n".join([text, *own])


def _relay_overview() -> Page:
    below = [f"relay/{page}" for page, _, _ in RELAY] + ["relay/nn", "relay/operators"]
    text = rst(to_rst(importlib.import_module("tvmq.relay").__doc__ or ""))
    more = "[From relay.quantize](../migrating.md) says what each option and function is here, and what differs.\n"
    return Page("reference/relay", "\n".join(["# tvmq.relay\n", text, more, toctree(below)]))


def _operators(part: str) -> Page:
    """The functions that make operators: those of relay.nn, or those of relay itself."""
    if part == "nn":
        names = importlib.import_module("tvmq.relay.op.nn").__all__
        return Page("reference/relay/nn", "# relay.nn\n\n" + rst(_functions("tvmq.relay.nn", sorted(names))))
    names = sorted(importlib.import_module("tvmq.relay.op").FUNCTIONS)
    return Page("reference/relay/operators", "# Operators of relay\n\n" + rst(_functions("tvmq.relay", names)))


def _signature(value: Any) -> str:
    """Signature as in the source, where annotations are texts, shown without quotes."""
    return re.sub(r"(: |-> )'([^']*)'", r"\1\2", str(inspect.signature(value)))


def _functions(module: str, names: list[str]) -> list[str]:
    """py:function directives: the functions lie in files by family, but scripts know them by these names."""
    lines: list[str] = []
    for name in names:
        from tvmq import relay

        value = getattr(relay.nn if module.endswith(".nn") else relay, name)
        lines += [f".. py:function:: {module}.{name}{_signature(value)}", ""]
        lines += [f"   {line}".rstrip() for line in to_rst(inspect.getdoc(value) or "", links(module))]
        lines += [""]
    return lines
