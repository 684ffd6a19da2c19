"""Trains the small network in several processes of torch's gloo backend; test_distributed.py runs it.

    python -m tests.training.two_processes RANK WORLD STORE OUT STEPS

Each process takes its share of each batch of 32. What process 0 has at the end is written to OUT.
"""

from __future__ import annotations

import sys

import torch
from torch import distributed
from torch.nn.functional import cross_entropy

from tests.training.torch_networks import labels, pictures, pictures_model
from tvmq import training

BATCH = 32


def main(rank: int, world: int, store: str, out: str, steps: int) -> None:
    """Train the network in process `rank` of `world`."""
    torch.set_num_threads(1)
    distributed.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=world)
    net = training.prepare(pictures_model(), pictures(1, seed=1), [pictures(48, seed=2)])
    parallel = torch.nn.parallel.DistributedDataParallel(net)
    optimizer = torch.optim.SGD(parallel.parameters(), lr=0.05, momentum=0.9)
    for step in range(steps):
        share = slice(rank * BATCH // world, (rank + 1) * BATCH // world)
        optimizer.zero_grad()
        cross_entropy(parallel(pictures(BATCH, seed=10 + step)[share]), labels(BATCH)[share]).backward()
        optimizer.step()
    states: list[object] = [None] * world
    distributed.all_gather_object(states, {name: value.clone() for name, value in net.state_dict().items()})
    if rank == 0:
        torch.save(states, out)
    distributed.destroy_process_group()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4], int(sys.argv[5]))
