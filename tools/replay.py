"""Hash what the compiler makes of many models: a change of form alone must not change a single hash.

    python tools/replay.py dump before           # on the tree as it was; about 8 minutes of CPU
    python tools/replay.py dump after            # on the changed tree, in the same place and on the same machine
    python tools/replay.py compare before after  # the differences; exit code 1 where there are any

    --quick    a tenth of the models, in 2 minutes
    --texts    also write scripts, kernels and manifests, so that `diff -r` shows what became different
    --only     cases whose names contain this text
    --zoo      folder of trained models (tasks.py); what is not there is left out
    --cache    folder of compiled kernels, to be quick; those in it are not compiled, nor compared one by one
    --renamed OLD=NEW   of `compare`, as often as there are names: compare the texts of two dumps made with --texts,
               OLD in those of `before` read as NEW. Manifests hold sizes and hashes of code with names, and differ

Cases      golden/*  the networks of tests/passes/nets.py, with calibration data and without
           dynamic/*    models with dynamic dimensions, of tests/support/models/dynamic_models.py
           fuzz/*    random graphs of benchmarks/fuzz.py
           zoo/*     trained models, some calibration samples of each
Of a case  quantized.script, quantized.json   the integer module, its constants included
           float/, here/, lesser/, common/    members of saved files (.tvmq): float and integer for this CPU; integer
                                              for haswell and x86-64 in one file; integer with code for common sizes
           cuda/source                        kernels for a GPU, for which none is needed
           kernel/<sha256>                    loops handed to LLVM that no case before had
           a refusal is its message

Only public names of tvmq are used, so that modules can move between two dumps.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import tempfile
import time
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
CPUS = {"here": "llvm", "lesser": ["llvm -mcpu=haswell", "x86-64"]}
GPU = "cuda -arch=sm_80"
GOLDEN = ("conv_relu", "residual", "squeeze_excite")  # their stages are printed in tests/golden
SAMPLES, QUICK_SAMPLES = 16, 4
GRAPHS, QUICK_SHARE = 50, 10
FEEDS = 3
SMALL_TASKS = ("resnet8_cifar10", "dscnn_digits", "compact_sr_x2")
Hashes = dict[str, str]


@dataclass(frozen=True)
class Case:
    """A model to be compiled.

    make    gives the model and its calibration data
    common  sizes that get code of their own
    """

    name: str
    make: Callable[[], tuple[Any, Any]]
    common: Mapping[str, list[int]] | None = None


class Dump:
    """Hashes of one case, and the texts behind them on request."""

    def __init__(self, folder: Path, name: str, texts: bool) -> None:
        self.hashes: Hashes = {}
        self._path, self._texts = folder / name, texts

    def add(self, key: str, content: str | bytes) -> None:
        """Keep the hash of a content."""
        data = content.encode() if isinstance(content, str) else content
        self.hashes[key] = hashlib.sha256(data).hexdigest()
        if self._texts and isinstance(content, str):
            path = self._path / key
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)

    def attempt(self, key: str, step: Callable[[], Any]) -> Any:
        """The result of a step; a refusal is kept as its message, and gives None."""
        import tvmq

        try:
            return step()
        except tvmq.errors.TvmqError as error:
            self.hashes[key] = f"{type(error).__name__}: {error}"
            return None

    def write(self) -> None:
        """Write them as JSON."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(self.hashes, indent=1, sort_keys=True)
        self._path.with_name(self._path.name + ".json").write_text(text + "\n")


def cases(options: argparse.Namespace) -> Iterator[Case]:
    """All models, cheap ones first."""
    share = QUICK_SHARE if options.quick else 1
    yield from _networks(share)
    yield from _dynamic_models()
    yield from _graphs(GRAPHS // share)
    yield from _tasks(options.zoo, SMALL_TASKS if options.quick else None, QUICK_SAMPLES if options.quick else SAMPLES)


def _networks(share: int) -> Iterator[Case]:
    from tests.passes.nets import NETS
    from tests.support.models.networks import feeds_of

    def model_of(name: str) -> Any:
        net, outputs = NETS[name]()
        return net.model(*outputs)

    for number, name in enumerate(NETS):
        if name in GOLDEN or number % share == 0:
            yield Case(f"golden/{name}", lambda name=name: ((model := model_of(name)), feeds_of(model, FEEDS)))
        if name in GOLDEN:
            yield Case(f"golden/{name}-without-data", lambda name=name: (model_of(name), None))


def _dynamic_models() -> Iterator[Case]:
    from tests.support.models.dynamic_models import encoder, pictures, texts

    words = [texts(1, length, length) for length in (5, 9)]
    drawn = [{"x": np.random.default_rng(n).standard_normal((1, 3, 8, n)).astype(np.float32)} for n in (8, 12)]
    yield Case("dynamic/encoder", lambda: (encoder(), words), {"batch": [1, 4], "sequence": [8]})
    yield Case("dynamic/pictures", lambda: (pictures(), drawn), {"rows": [16], "columns": [16]})


def _graphs(count: int) -> Iterator[Case]:
    from tests.support.fuzz.graphs import fuzz_feeds, fuzz_model

    for seed in range(count):
        yield Case(f"fuzz/{seed:03d}", lambda seed=seed: ((model := fuzz_model(seed)), fuzz_feeds(model, seed, FEEDS)))


def _tasks(zoo: Path, names: tuple[str, ...] | None, samples: int) -> Iterator[Case]:
    if not (zoo / "tasks.py").exists():
        return
    sys.path.insert(0, str(ROOT / "benchmarks"))
    from harness.zoo import zoo_module

    for name, task in zoo_module(zoo, "tasks").tasks().items():
        if names is None or name in names:
            yield Case(f"zoo/{name}", lambda task=task: (task.model_path, list(task.calibration(1, samples))))


def record(dump: Dump, case: Case) -> None:
    """Record one model through all stages."""
    import tvm

    import tvmq

    model, data = case.make()
    shape = {name: array.shape for name, array in data[0].items()} if isinstance(model, str) else None
    imported = dump.attempt("import", lambda: tvmq.from_onnx(model, shape=shape))
    if imported is None:
        return
    mod, params = imported
    _save(dump, "float", lambda: tvmq.build(mod, params=params))
    quantized = dump.attempt("quantize", lambda: tvmq.quantize(mod, params, data))
    if quantized is None:
        return
    dump.add("quantized.script", quantized.script())
    dump.add("quantized.json", tvm.ir.save_json(quantized))
    for name, target in CPUS.items():
        _save(dump, name, lambda target=target: tvmq.build(quantized, target=target))
    if case.common:
        _save(dump, "common", lambda: tvmq.build(quantized, sizes=case.common))
    built = dump.attempt("cuda", lambda: tvmq.build(quantized, target=GPU))
    if built is not None:
        dump.add("cuda/source", built.source)


def _save(dump: Dump, name: str, build: Callable[[], Any]) -> None:
    """The members of the saved file."""
    built = dump.attempt(name, build)
    if built is None:
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.tvmq"
        built.save(path)
        with zipfile.ZipFile(path) as archive:
            for member in archive.namelist():
                content = archive.read(member)
                dump.add(f"{name}/{member}", content.decode() if member == "manifest.json" else content)


class KernelTexts:
    """Sees each function that is handed to LLVM alone, in `tvm.tirx.build`."""

    def __enter__(self) -> KernelTexts:
        import tvm

        self._build, self.texts = tvm.tirx.build, set[str]()
        tvm.tirx.build = self._recorded
        return self

    def __exit__(self, *_error: object) -> None:
        import tvm

        tvm.tirx.build = self._build

    def _recorded(self, mod: Any, *args: Any, **options: Any) -> Any:
        self.texts.add(mod.script())
        return self._build(mod, *args, **options)

    def move_into(self, dump: Dump) -> None:
        """Add those that were seen since to a case."""
        for text in sorted(self.texts):
            dump.add(f"kernel/{hashlib.sha256(text.encode()).hexdigest()[:16]}", text)
        self.texts.clear()


def dump_all(options: argparse.Namespace) -> None:
    """Write the hashes of all cases into `options.folder`, which must be new."""
    options.folder.mkdir(parents=True)
    sys.path.insert(0, str(ROOT))
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as fresh, KernelTexts() as kernels:
        os.environ["TVMQ_CACHE"] = str(options.cache or fresh)
        for case in cases(options):
            if options.only in case.name:
                start, dump = time.process_time(), Dump(options.folder, case.name, options.texts)
                record(dump, case)
                kernels.move_into(dump)
                dump.write()
                print(f"{case.name}: {len(dump.hashes)} hashes, {time.process_time() - start:.1f} s of CPU", flush=True)


def hashes_of(folder: Path) -> Hashes:
    """{case/key: hash} of a dump."""
    files = {path: json.loads(path.read_text()) for path in sorted(folder.glob("*/*.json"))}
    if not files:
        raise SystemExit(f"replay: '{folder}' holds no dump; make one with `replay.py dump {folder}`")
    return {
        f"{path.relative_to(folder).with_suffix('')}/{key}": value
        for path, hashes in files.items()
        for key, value in hashes.items()
    }


def renamed_texts(folder: Path, names: Sequence[str]) -> Hashes:
    """{case/key: hash} of the texts of a dump with OLD=NEW replaced, kernels under the hash of what they become."""
    hashes = {}
    for path in (path for path in sorted(folder.glob("*/*/**/*")) if path.is_file()):
        text = path.read_text()
        for old, new in (name.split("=") for name in names):
            text = text.replace(old, new)
        value = hashlib.sha256(text.encode()).hexdigest()
        key = path.with_name(value[:16]) if path.parent.name == "kernel" else path
        hashes[str(key.relative_to(folder))] = value
    if not hashes:
        raise SystemExit(f"replay: '{folder}' holds no texts; make them with `replay.py dump --texts {folder}`")
    return hashes


def differences(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Differences of two dumps, a line each: cases of one dump alone, and those that are not equal.

    >>> differences({"a": "1", "b": "1"}, {"b": "2", "c": "1"})
    ['a: before alone', 'b: differs', 'c: after alone']
    """
    lines = []
    for key in sorted({**before, **after}):
        if key not in after or key not in before:
            lines.append(f"{key}: {'before' if key in before else 'after'} alone")
        elif before[key] != after[key]:
            lines.append(f"{key}: differs")
    return lines


def compare(options: argparse.Namespace) -> None:
    """Print the differences of two dumps; exit code 1 where there are any."""
    if options.renamed:
        before, after = renamed_texts(options.before, options.renamed), renamed_texts(options.after, ())
    else:
        before, after = hashes_of(options.before), hashes_of(options.after)
    lines = differences(before, after)
    print("\n".join([*lines, f"{len(lines)} differences in {len({**before, **after})} hashes"]))
    sys.exit(bool(lines))


def main(arguments: Sequence[str] | None = None) -> None:
    """Command line; see the head of this file."""
    parser = argparse.ArgumentParser(description="Hashes of all that the compiler makes, before and after a change.")
    commands = parser.add_subparsers(required=True)
    dump = commands.add_parser("dump", help="write the hashes of all cases into a new folder")
    dump.add_argument("folder", type=Path)
    dump.add_argument("--quick", action="store_true", help="a tenth of the models")
    dump.add_argument("--texts", action="store_true", help="also write the texts")
    dump.add_argument("--only", default="", help="cases whose names contain this")
    dump.add_argument("--zoo", type=Path, default=ROOT.parent / "shared" / "zoo", help="folder of tasks.py")
    dump.add_argument("--cache", type=Path, help="folder of compiled kernels")
    dump.set_defaults(run=dump_all)
    comparison = commands.add_parser("compare", help="print what two dumps do not share")
    comparison.add_argument("before", type=Path)
    comparison.add_argument("after", type=Path)
    comparison.add_argument("--renamed", action="append", metavar="OLD=NEW", help="a name that the change gave")
    comparison.set_defaults(run=compare)
    options = parser.parse_args(arguments)
    options.run(options)


if __name__ == "__main__":
    main()
