"""Summary of `tvmq quantize`: agreement, accuracy, speed, what stayed float and why, and the next steps.

Also: the default output file of a command, and the files it must not overwrite.

Tests: tests/tools/cli/test_quantize_alone.py
"""

from __future__ import annotations

import shlex
import zipfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tvmq.base.regular_file import check_regular
from tvmq.errors import OutputError
from tvmq.tools.cli.console import size_text, time_text
from tvmq.tools.cli.doubts import doctor_command
from tvmq.tools.cli.files import UNREADABLE, check_output
from tvmq.tools.cli.metrics import format_metric
from tvmq.tools.cli.speed import speed_rows

REASONS = 4
LEAST_SAME_CLASS = 0.98  # a lower share of equal classes needs a look
LEAST_SQNR = 15.0
HALF_OF_WORK = 0.5  # in int8: below it is a finding, no success
ASKED_FOR = ("rule ", "option ")  # reasons that are the user's own
WIDEST = 84
WITHOUT_DATA = (
    "no --data: scales are computed at run time, which is often slower than float where layers are convolutions"
)
WIDE_MARGIN = 0.08  # of accuracy: some 100 samples leave less open


def summary_lines(facts: Mapping[str, Any]) -> list[str]:
    """Lines of the summary, one per fact of `quantize`."""
    rows = [
        ("model", f"{facts['model']} ({size_text(facts['model_bytes'])})"), ("saved", _saved_text(facts)),
        *(("exported", f"{path} ({size_text(size)})") for path, size in facts.get("exported", {}).items()),
        *(("", text) for text in facts.get("about_files", ())),
        *(("agreement", text) for text in _agreement(facts.get("comparison"))), *_accuracy(facts.get("comparison")),
        *speed_rows(facts.get("speed")), *_precision(facts), *(("DOUBT", text) for text in facts.get("doubts", ())),
        ("time", time_text(facts["seconds"])),
    ]  # fmt: skip
    return [f"  {name:<10} {text}" for name, text in rows]


def _saved_text(facts: Mapping[str, Any]) -> str:
    share = facts["output_bytes"] / max(1, facts["model_bytes"])
    place = facts["output"] or "not yet"
    return f"{place} ({size_text(facts['output_bytes'])} with its machine code, {share:.0%} of the model)"


def describe_samples(comparison: Mapping[str, Any]) -> str:
    """Description of the samples behind the figures."""
    if comparison["data"] == "random":
        return f"{comparison['samples']} random inputs, which say little"
    apart = "held-out samples" if comparison["data"] == "held out" else "samples, the same that calibrated it"
    return f"{comparison['samples']} {apart}"


def _agreement(comparison: Mapping[str, Any] | None) -> list[str]:
    """A line per output, at most three."""
    if comparison is None:
        return []
    if "skipped" in comparison:
        return [f"not compared: {comparison['skipped']}"]
    texts = [f"'{one['outputs'][0]}': {one['summary']}" for one in comparison.get("read", ())]
    for index, (name, one) in enumerate(comparison["outputs"].items()):
        parts = [f"same class on {one['same_class']:.2%}"] if "same_class" in one else []
        parts += ["equal to float"] if one["equal"] else []
        parts += [f"cosine {one['cosine']:.4f}"] if "cosine" in one and not one["equal"] else []
        parts += [f"signal to error {one['sqnr_db']:.1f} dB"] if one["sqnr_db"] is not None else []
        where = f" of {describe_samples(comparison)}" if index == 0 else ""
        named = f"'{name}': " if len(comparison["outputs"]) > 1 else ""
        texts.append(f"{named}{parts[0]}{where}{''.join(f'; {part}' for part in parts[1:])}" if parts else f"{named}?")
    most = 3 + len(comparison.get("read", ()))
    rest = len(texts) - most
    return texts[:most] + ([f"{rest} more outputs (--json has all)"] if rest > 0 else [])


def _accuracy(comparison: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    if not comparison or "skipped" in comparison:
        return []
    if "metric" not in comparison:
        return [("accuracy", f"not measured: {comparison['no_metric']}")] if comparison.get("no_metric") else []
    name = comparison["metric"]
    figures = (format_metric(name, comparison[kind]) for kind in ("float", "int8"))
    rows = [("accuracy", "{}: float {}, int8 {}, {}".format(name, *figures, describe_samples(comparison)))]
    margin = comparison.get("margin", 0.0)
    if margin > WIDE_MARGIN:
        rows.append(("", f"± {100 * margin:.0f} points: too few samples to tell more"))
    return rows


def float_reasons(layers: Mapping[str, Mapping[str, Any]]) -> list[tuple[int, str, str]]:
    """(count, operators, why) of what stayed float, the most frequent first.

    >>> float_reasons({"a": {"op": "softmax", "precision": "float", "why": "default: no integer form"}})
    [(1, 'softmax', 'default: no integer form')]
    """
    reasons: dict[str, list[str]] = {}
    for entry in layers.values():
        if entry["precision"] == "float":
            reasons.setdefault(entry["why"], []).append(entry["op"])
    rows = [(len(ops), ", ".join(sorted(set(ops))), why) for why, ops in reasons.items()]
    return sorted(rows, key=lambda one: -one[0])


def _precision(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    layers = facts["layers"]
    reasons = float_reasons(layers)
    floats = sum(count for count, _, _ in reasons)
    share = facts["int8_share"]
    rows = [("int8", f"{len(layers) - floats} of {len(layers)} operators, {share:.1%} of multiply-accumulates")]
    little = explain_little_int8(layers, share)
    rows += [("", little)] if little else []
    rows += [("float", f"{count} x {operators}: {why}") for count, operators, why in reasons[:REASONS]]
    if len(reasons) > REASONS:
        rows.append(("", f"{len(reasons) - REASONS} more reasons: tvmq explain"))
    rows += [("weights", facts["weights"])] if facts.get("weights") else []
    if facts.get("without_data"):
        rows.append(("note", WITHOUT_DATA))
    return rows + [("note", str(note)) for note in facts.get("notes", ())[:3]]


def explain_little_int8(layers: Mapping[str, Mapping[str, Any]], share: float) -> str:
    """Sentence for a model with less than half of its work in int8; "" where that is what the user asked for.

    >>> layer = {"op": "conv2d", "precision": "float", "macs": 9, "why": "guard: float: 12.0 dB in 8 bits"}
    >>> explain_little_int8({"a": layer, "b": layer}, 0.4)
    'LESS THAN HALF of the work is in int8: 2 layers by the guard; tvmq doctor says why, and what may keep more'
    >>> explain_little_int8({"a": {**layer, "why": "rule 'a'"}}, 0.0)
    ''
    """
    heavy = [str(entry["why"]) for entry in layers.values() if entry["precision"] == "float" and entry.get("macs")]
    kinds = Counter(why.partition(":")[0] for why in heavy if not why.startswith(ASKED_FOR))
    if share >= HALF_OF_WORK or not kinds:
        return ""
    words = {"guard": "by the guard", "limit": "by a limit", "default": "by default", "the model": "by the model"}
    parts = [f"{count} layers {words.get(kind, f'({kind})')}" for kind, count in kinds.most_common()]
    return f"LESS THAN HALF of the work is in int8: {', '.join(parts)}; tvmq doctor says why, and what may keep more"


def next_steps(
    facts: Mapping[str, Any], model: Path, output: Path, data: str | None, options: str = ""
) -> list[str]:
    """Commands for the next steps, ready to be pasted; those that fix a problem come first.

    options  that give samples to a model which keeps how its sounds or texts are prepared
    """
    saved, source = shlex.quote(str(output)), shlex.quote(str(model))
    again = f"tvmq quantize {source}" + (f" --data {shlex.quote(data)}" if data else " --data ...")
    steps = []
    if facts.get("without_data"):
        steps.append((f"tvmq quantize {source} --data samples.npz", "scales from about 100 typical samples: faster"))
    elif facts.get("random_data"):
        steps.append((f"tvmq quantize {source} --data pictures/", "calibrate on real data instead of random values"))
    elif facts.get("doubts") and data:
        steps.append((doctor_command(model, data), "find out what is wrong with samples, labels or their preparation"))
    elif _is_far_from_float(facts.get("comparison")):
        steps += _diagnosis_steps(source, saved, again, data)
    elif explain_little_int8(facts["layers"], facts["int8_share"]):
        samples = shlex.quote(data or "samples.npz")
        steps.append((f"tvmq doctor {source} --data {samples}", "what keeps so much of it float"))
        steps.append((f"{again} --calibrate-mode percentile", "ranges without outliers"))
    speed = facts.get("speed")
    if speed and speed["steady"] and speed["ratio"] is not None and speed["ratio"] < 1.02:
        steps.append((f"{again} --tune 60", "keep float what is faster so on this CPU"))
        steps.append((f"tvmq inspect {source}", "why: layer by layer"))
    steps.append((f"tvmq explain {saved}", "each layer: int8 or float, and why"))
    if data and (facts.get("normalization") or data.endswith((".npz", ".npy"))):
        steps.append((f"tvmq verify {saved} --data {shlex.quote(data)}", "check the compiled code, bit for bit"))
    if options:
        steps.append((f"tvmq verify {saved} {options}", "check the compiled code, bit for bit"))
        steps.append((f"tvmq run {saved} {options}", "outputs, of new samples as well"))
    if facts.get("normalization"):
        steps.append((f"tvmq run {saved} --data photo.jpg", "scores of a picture, or of a folder of them"))
    steps.append((f"tvmq bench {saved} --per-layer", "time of each layer"))
    if facts.get("inputs"):
        steps.append((_in_python(facts["inputs"], output), "use it in Python"))
    width = max((len(command) for command, _ in steps if len(command) <= WIDEST), default=0)
    return [f"  {command:<{width}}  # {why}" for command, why in steps]


def _in_python(inputs: Mapping[str, str], output: Path) -> str:
    """Python that loads and runs the model, in one line.

    >>> _in_python({"x": "float32 (1, 3)"}, Path("m.tvmq"))
    "tvmq.load('m.tvmq').run({'x': x})"
    """
    feed = ", ".join(f"'{name}': {name if name.isidentifier() else 'array'}" for name in inputs)
    return f"tvmq.load({str(output)!r}).run({{{feed}}})"


def _is_far_from_float(comparison: Mapping[str, Any] | None) -> bool:
    """True if int8 differs more from float than it should."""
    if not comparison or "outputs" not in comparison:
        return False
    first = next(iter(comparison["outputs"].values()), None)
    if first is None or first["equal"]:
        return False
    differing = (1 - first.get("same_class", 1.0)) * comparison["samples"]
    read = [one for agreement in comparison.get("read", ()) for one in agreement["decibels"].values()]
    figures = read or [first["sqnr_db"]]
    weak = any(figure is not None and figure < LEAST_SQNR for figure in figures)
    return bool(differing > max(1.5, (1 - LEAST_SAME_CLASS) * comparison["samples"]) or weak)


def _diagnosis_steps(source: str, saved: str, again: str, data: str | None) -> list[tuple[str, str]]:
    arrays = data if data and data.endswith(".npz") else "samples.npz"
    keep = [] if arrays == data else [(f"{again} --save-samples {arrays}", "save pictures as arrays, for the next")]
    why = (f"tvmq doctor {source} --data {shlex.quote(data or arrays)}", "find the cause, and rules that fix it")
    where = (f"tvmq compare {source} {saved} --data {shlex.quote(arrays)} --worst 5", "which layers lose accuracy")
    return [why, *keep, where]


SUFFIX, MANIFEST = ".tvmq", "manifest.json"


def choose_output(model: Path, output: Path | None, *, force: bool) -> Path:
    """Output file: as given, else named after the model, in the current folder.

    raises  OutputError if it cannot be written, or is a file that tvmq did not write

    >>> str(choose_output(Path("models/resnet18.onnx"), None, force=False))
    'resnet18.tvmq'
    """
    chosen = output or Path(model.name).with_suffix(SUFFIX)
    check_output(chosen)
    if chosen.exists() and not force and not is_saved_model(chosen):
        raise OutputError(
            f"output: '{chosen}' exists and is not a model saved by tvmq; choose another --output, or overwrite it "
            "by --force"
        )
    return chosen


def is_saved_model(path: Path) -> bool:
    """True for a saved model, even if damaged after its list of members."""
    try:
        check_regular(path)
        with zipfile.ZipFile(path) as archive:
            return MANIFEST in archive.namelist()
    except UNREADABLE:
        return False
