"""Faults that tests must find: each is put into a copy of the tree, where the tests of its module and room run.

    python -m tests.support.seeded_faults                    # all: hours of processor time
    python -m tests.support.seeded_faults passes numerics    # those of files whose paths begin so or hold the word
    python -m tests.support.seeded_faults --survivors        # exit status 1 unless every fault is found

Before tests are merged or taken out, and after it: as many are to be found. First the tests that a module leads to
run (tests/test_finding_tests.py), slow ones too, then the fast ones of its room, each time up to the first failure.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from tests.support.project import ROOT
from tests.test_finding_tests import mirrored_folder, named_tests

SECONDS = 1200  # of one run; a fault that makes tests hang is found


class Fault(NamedTuple):
    """A text that occurs in a file once, and its replacement."""

    file: str
    old: str
    new: str


FAULTS = [
    Fault(*line)
    for line in (
        # ---- numerics
        ("tvmq/numerics/requantize.py", "np.rint(steps, out=steps)", "np.floor(steps, out=steps)"),
        ("tvmq/numerics/tie_rules.py", '"away": lambda: (values < 0) * is_shifted', '"away": lambda: (values > 0) * is_shifted'),
        ("tvmq/numerics/requantize_factors.py", "is_full = mantissa == 2.0**bits", "is_full = mantissa > 2.0**bits"),
        ("tvmq/numerics/rule_arithmetic.py", "rounded_shift(product, bits, roundings[0]), right,", "rounded_shift(product, bits, \"floor\"), right,"),
        ("tvmq/numerics/fixed_point.py", "np.left_shift(np.int64(1), n) >> 1", "np.left_shift(np.int64(1), n) >> 2"),
        ("tvmq/numerics/fixed_point.py", "(values64 > float(limits.min) - 1)", "(values64 > float(limits.min))"),
        ("tvmq/numerics/fixed_point.py", "(a < 0) != (b < 0)", "(a < 0)"),
        ("tvmq/numerics/add.py", "np.clip(total, low - zero_point, high - zero_point, out", "np.clip(total, low, high, out"),
        ("tvmq/numerics/add.py", "min(shift, fitting)", "max(shift, fitting)"),
        ("tvmq/numerics/spec.py", "np.maximum(-low, high), spec.qmax", "np.maximum(low, high), spec.qmax"),
        ("tvmq/numerics/spec.py", "np.rint(spec.qmin - low", "np.floor(spec.qmin - low"),
        ("tvmq/numerics/pool.py", "dtype=np.int32), np.add, 0, windows)", "dtype=np.int32), np.add, 1, windows)"),
        ("tvmq/numerics/scale_shift.py", "reach = 2**15 + abs(zero) if", "reach = 2**15 if"),
        ("tvmq/numerics/softmax.py", "(t - n * LN2_HIGH) - n * LN2_LOW\n    q =", "t - n * LN2_HIGH\n    q ="),
        ("tvmq/numerics/integer_softmax.py", "(total >= 1 << (31 + j))", "(total >= 1 << (32 + j))"),
        ("tvmq/numerics/layer_norm.py", "lane_sum(rows * rows) / count\n", "lane_sum(rows * rows) / (count - 1)\n"),
        ("tvmq/numerics/multiply.py", "max(int(limits.max) - zero, zero - int(limits.min))", "int(limits.max) - zero"),
        ("tvmq/numerics/sum_limits.py", "together = x_low < 0", "together = x_low <= 0"),
        ("tvmq/numerics/masked_mean.py", "np.clip(mask, 0, 1)", "np.clip(mask, -1, 1)"),
        ("tvmq/numerics/windows.py", "(stride - 1 if ceil_mode else 0)", "(stride if ceil_mode else 0)"),
        ("tvmq/numerics/table.py", 'right = kind == "greater"', "right = False"),
        # ---- passes
        ("passes/annotate.py", "if not always_plain:", "if always_plain:"),
        ("passes/annotate.py", "if name not in specs or chosen:", "if name not in specs:"),
        ("passes/annotate.py", "weight_axis(value) if spec.per_channel else -1", "0 if spec.per_channel else -1"),
        ("passes/unify_scales.py", "for name in (*watched, source)):", "for name in ()):"),
        ("passes/unify_scales.py", "groups[name].passes and not groups[name].joins:", "groups[name].passes:"),
        ("passes/calibrate/__init__.py", "10 ** (0.5 / 20)", "10 ** (0.6 / 20)"),
        ("passes/calibrate/__init__.py", "if config.requantize == \"power_of_two\" else qparams\n", "if False else qparams\n"),
        ("passes/calibrate/outliers.py", "else np.minimum(self.low, low)", "else low"),
        ("passes/equalize.py", "return groups == 1 or per_group == 1", "return True"),
        ("passes/correct_bias.py", "return (1, -1) + (1,) * (len(var.ty.shape) - 2)", "return (1, 1, -1) + (1,) * (len(var.ty.shape) - 3)"),
        ("passes/fold_constants.py", "> max(LARGEST_GROWTH, constant_size)", "> max(0, constant_size)"),
        ("passes/pack_weights.py", "<= numerics.PACKED_BITS", "< numerics.PACKED_BITS"),
        ("passes/partition_conversions.py", "if all(var in known", "if any(var in known"),
        ("passes/families/concat.py", "common = realizer.output_qparams(group) or max(", "common = realizer.output_qparams(group) or min("),
        ("passes/families/select.py", "(np.abs(array) <= LARGEST_CONSTANT).all()", "(np.abs(array) <= LARGEST_CONSTANT).any()"),
        ("passes/families/table.py", "return alpha if 0 <= alpha <= 1 else None", "return alpha if 0 <= alpha else None"),
        ("passes/families/table.py", "np.where(np.isnan(values), -np.inf, values)", "np.where(np.isnan(values), np.inf, values)"),
        ("passes/families/avg_pool.py", "attr_padding if attrs.count_include_pad", "attr_padding if not attrs.count_include_pad"),
        ("passes/families/avg_pool.py", "if counts.min() < 1:", "if counts.min() < 0:"),
        ("passes/families/masks.py", "(-1.0, number) if first else (1.0, -number)", "(-1.0, number) if first else (1.0, number)"),
        ("passes/families/weight_scales.py", "LONE_BIAS = 2.0**24", "LONE_BIAS = 2.0**20"),
        ("passes/partition/find.py", 'if draft.config.requantize != "float":', 'if draft.config.requantize == "power_of_two":'),
        ("passes/partition/residual_streams.py", 'return normalization != "softmax"', "return True"),
        ("passes/partition/decide.py", "if layer.key in draft.groups:", "if False:"),
        ("passes/prepare/matrix_products.py", "(inner, factor / number) if number", "(inner, factor * number) if number"),
        ("passes/prepare/canonical.py", "mean, float(math.prod(counts))", "mean, 1.0"),
        ("passes/import_qdq/pairs.py", "return order.index(axis)", "return order[axis]"),
        # ---- kernels
        ("tvmq/codegen/kernels/parts/fixed_point.py", "T.shift_right(mixed + one, one)", "T.shift_right(mixed, one)"),
        ("tvmq/codegen/kernels/parts/fixed_point.py", 'if self.step.rule.roundings[0] != "away":', "if True:"),
        ("tvmq/codegen/kernels/elementwise/channel_prelu.py", '"uint8")), x_zero + 128', '"uint8")), x_zero'),
        ("tvmq/codegen/kernels/elementwise/multiply.py", "_centred_codes(b, b_begin + offset, size, b_zero)", "_centred_codes(b, b_begin + offset, size, a_zero)"),
        ("tvmq/codegen/kernels/depthwise/copy_rows.py", "self.fill_value = shape.x_zero + self._shift", "self.fill_value = shape.x_zero"),
        ("tvmq/codegen/kernels/move/transpose.py", "codes - spread(zero[0], lanes)", "codes"),
        # ---- formats
        ("tvmq/formats/c/reductions.py", '"sum += {{a}} - {literal(int(call.attrs.zero_point))};"', '"sum += {{a}};"'),
        ("tvmq/formats/c/elementwise.py", "({y} - {literal(zeros[1])})", "({y} - {literal(zeros[0])})"),
        ("tvmq/formats/tosa/pools.py", "int(call.attrs.zero_point) - x.uint8_offset", "int(call.attrs.zero_point)"),
        ("tvmq/formats/tflite/pools.py", "Quantization((scale,) * channels, 0, 3)", "Quantization((2 * scale,) * channels, 0, 3)"),
        ("tvmq/formats/onnx/exporter/sums.py", "0 if scale.ndim else None", "None"),
        ("tvmq/formats/onnx/exporter/values.py", "axis if axis >= 0 else None))", "axis if axis > 0 else None))"),
        ("tvmq/formats/torch/exporter/integer_operators.py", 'a["qmin"] - zero, a["qmax"] - zero) + zero', 'a["qmin"], a["qmax"]) + zero'),
    )
]  # fmt: skip


def name_tests(fault: Fault, root: Path) -> tuple[list[str], str]:
    """The tests that the module leads to, and the folder of its room."""
    path = ROOT / fault.file
    stem = path.parent.name if path.name == "__init__.py" else path.stem
    folder = mirrored_folder(path.parent if path.name == "__init__.py" else path)
    found = [str(one.relative_to(ROOT)) for one in sorted(folder.rglob(f"test_{stem}.py"))]
    found += [name for name in named_tests(path) if name.endswith(".py")]
    if (folder / "cases").exists():
        found.append("tests/passes/test_cases.py")
    parts = folder.relative_to(ROOT).parts
    room = Path(*parts[: 2 if parts[1] in ("numerics", "passes") else 3])  # tests/numerics, tests/codegen/kernels
    return [name for name in dict.fromkeys(found) if (root / name).exists()], str(room)


def copy_tree(target: Path) -> None:
    """The tree as it would be installed, `tvmq/passes` in place, without what git ignores."""
    files = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    for name in files.stdout.splitlines():
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)
    (target / "tvmq" / "passes").symlink_to("../passes")


def first_failure(root: Path, arguments: list[str]) -> str | None:
    """The first test that fails, None if all pass."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *arguments]
    variables = {**os.environ, "PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        run = subprocess.run(command, cwd=root, env=variables, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return "a test that hangs"
    if run.returncode in (0, 5):
        return None
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", run.stdout, re.MULTILINE)
    return failed[1] if failed else f"pytest ends with {run.returncode}"


def run_fault(fault: Fault, root: Path) -> str | None:
    """The first test that finds a fault put into the tree at `root`, None if it survives."""
    path = root / fault.file
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(fault.old, fault.new), encoding="utf-8")
    try:
        named, room = name_tests(fault, root)
        return (first_failure(root, named) if named else None) or first_failure(root, [room, "-m", "not slow"])
    finally:
        path.write_text(text, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("words", nargs="*", help="faults of files whose paths hold one of these words; default: all")
    parser.add_argument("--survivors", action="store_true", help="exit status 1 if a fault is not found")
    asked = parser.parse_args()
    chosen = [f for f in FAULTS if not asked.words or any(word in f.file for word in asked.words)]
    survived = 0
    with tempfile.TemporaryDirectory(prefix="tvmq_faults_") as folder:
        copy_tree(Path(folder))
        for fault in chosen:
            test = run_fault(fault, Path(folder))
            survived += test is None
            print(f"{fault.file}: {fault.old.strip()} -> {fault.new.strip()}\n    {test or 'SURVIVES'}", flush=True)
    print(f"{len(chosen) - survived} of {len(chosen)} faults are found")
    sys.exit(int(asked.survivors and survived > 0))


if __name__ == "__main__":
    main()
