"""Virtual environments of the peers of `latency.py --peers`, one each, as their versions exclude each other.

    python benchmarks/peer_environments.py NAME ... [--environments DIR] [--python python3.11]

NAME is one of the names below, or all. An environment that is there already is left as it is; remove its folder to
renew it. torch comes from where pip finds it: give pip an index of CPU builds (PIP_EXTRA_INDEX_URL) to save gigabytes.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ENVIRONMENTS = Path("build/peers")


@dataclass(frozen=True)
class Peer:
    """How a peer is installed, and the adapter that runs it.

    packages  what pip is asked for; NumPy always
    adapter   a module of benchmarks/adapters
    """

    packages: tuple[str, ...]
    adapter: str


PEERS = {
    "mnn": Peer(("MNN",), "mnn_peer"),
    "inductor": Peer(("torch", "torchao", "onnx"), "inductor_peer"),
    "litert": Peer(("litert-torch", "ai-edge-litert", "ai-edge-quantizer", "torch", "onnx"), "litert_peer"),
    "executorch": Peer(("executorch", "torch", "onnx"), "executorch_peer"),
}


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
    subprocess.run([*pip, "numpy", *PEERS[name].packages], check=True)
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
