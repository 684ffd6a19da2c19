"""Virtual environments of the peers of `latency.py --peers`, one each, as their versions exclude each other.

    python benchmarks/peer_environments.py NAME ... [--environments DIR] [--python python3.11]

NAME is one of the names below, or all. An environment that is there already is left as it is; remove its folder to
renew it. torch comes from where pip finds it: give pip an index of CPU builds (PIP_EXTRA_INDEX_URL) to save gigabytes.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

ENVIRONMENTS = Path("build/peers")


@dataclass(frozen=True)
class Peer:
    """Packages of a peer, and the adapter that runs it.

    packages   what pip installs; NumPy always
    adapter    a module of benchmarks/adapters
    limits     {level of latency.py: environment variables that limit the peer}; its adapter may do more
    variables  environment variables that are its best settings
    sources    what pip has as sources alone, plain Python; of all others wheels are taken
    """

    packages: tuple[str, ...]
    adapter: str
    limits: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    sources: tuple[str, ...] = ()


ONEDNN = {"avx2": {"ONEDNN_MAX_CPU_ISA": "AVX2"}, "avx512bw": {"ONEDNN_MAX_CPU_ISA": "AVX512_CORE"}}
TORCH = {"avx2": {**ONEDNN["avx2"], "ATEN_CPU_CAPABILITY": "avx2"}}  # inductor_peer.py limits what inductor writes
MKL = {"avx2": {**ONEDNN["avx2"], "CT2_FORCE_CPU_ISA": "AVX2", "MKL_ENABLE_INSTRUCTIONS": "AVX2"}}
PEERS = {
    "mnn": Peer(("MNN",), "mnn_peer"),
    "inductor": Peer(("torch", "torchao", "onnx"), "inductor_peer", TORCH),
    "zentorch": Peer(("zentorch", "torch", "torchao", "onnx"), "zentorch_peer"),
    "litert": Peer(("litert-torch", "ai-edge-litert", "ai-edge-quantizer", "torch", "onnx"), "litert_peer"),
    "executorch": Peer(
        ("executorch>=1.5", "torch>=2.13", "torchao", "onnx"), "executorch_peer", sources=("antlr4-python3-runtime",)
    ),
    "ncnn": Peer(("ncnn", "pnnx", "onnx"), "ncnn_peer"),
    "iree": Peer(
        ("iree-base-compiler", "iree-base-runtime", "onnx", "onnxruntime", "sympy"), "iree_peer",
        dict.fromkeys(("avx2", "avx512bw"), {}),
    ),
    "ctranslate2": Peer(("ctranslate2", "onnx"), "ctranslate2_peer", MKL),
    "onednn": Peer(("onednn-cpu-gomp", "onnx"), "onednn_peer", ONEDNN),
}  # fmt: skip


def interpreter(environments: Path, name: str) -> Path:
    """The Python of the peer's environment, there or not."""
    return environments / name / "bin" / "python"


def chosen(names: str) -> list[str]:
    """The peers of a text such as "mnn,ncnn" or "all"; one sentence for a name that is none."""
    wanted = list(PEERS) if names == "all" else [name for name in names.split(",") if name]
    unknown = [name for name in wanted if name not in PEERS]
    if unknown:
        raise SystemExit(f"peers: no peer '{unknown[0]}'; peers are {', '.join(PEERS)}, or all of them: all")
    return wanted


def make_environment(environments: Path, name: str, python: str) -> None:
    """Install a peer; the interpreter appears under its name when all is there."""
    folder = environments / name
    if interpreter(environments, name).exists():
        return
    partial = environments / f"{name}.partial"
    subprocess.run([python, "-m", "venv", "--clear", str(partial)], check=True)
    pip = [str(partial / "bin" / "python"), "-m", "pip", "install", "-q", "--only-binary=:all:"]
    sources = [f"--no-binary={package}" for package in PEERS[name].sources]
    subprocess.run([*pip, *sources, "numpy", *PEERS[name].packages], check=True)
    partial.rename(folder)


def main() -> None:
    """Command line; see the head of this file."""
    commands = argparse.ArgumentParser(description="Make the environments of peers.")
    commands.add_argument("names", nargs="+", help=f"{', '.join(PEERS)}, or all")
    commands.add_argument("--environments", type=Path, default=ENVIRONMENTS, help="their folder")
    commands.add_argument("--python", default=sys.executable, help="interpreter to make them of")
    options = commands.parse_args()
    options.environments.mkdir(parents=True, exist_ok=True)
    failed = []
    for name in chosen(",".join(options.names)):
        try:
            make_environment(options.environments, name, options.python)
            print(f"{name}: {interpreter(options.environments, name)}", flush=True)
        except subprocess.CalledProcessError as error:
            failed.append(name)
            print(f"{name}: {' '.join(error.cmd)} ended with {error.returncode}", file=sys.stderr)
    if failed:
        raise SystemExit(f"peers: no environment for {', '.join(failed)}")


if __name__ == "__main__":
    main()
