"""In the place of tvm.contrib.debugger.debug_executor: an executor that tells where the time goes."""

from __future__ import annotations

from typing import Any

from tvmq.performance.profile_table import Profile
from tvmq.relay.executor_factory import ExecutorFactoryModule
from tvmq.relay.graph_executor import GraphModule
from tvmq.relay.graph_runtime import GraphRuntime


def create(
    graph_json_str: str, libmod: ExecutorFactoryModule, device: Any = None, dump_root: Any = None
) -> GraphModuleDebug:
    """An executor of a library; nothing is dumped to `dump_root`."""
    return GraphModuleDebug(libmod[libmod.libmod_name](device))


class GraphModuleDebug(GraphModule):
    """GraphModule that prints the time of each layer when it runs, and has `profile`; nothing is dumped."""

    def __init__(
        self, module: GraphRuntime, device: Any = None, graph_json_str: Any = None, dump_root: Any = None
    ) -> None:
        super().__init__(module)

    def run(self, **input_dict: Any) -> None:
        """Set these inputs, compute the outputs, and print the time of each layer."""
        super().run(**input_dict)
        print(self.profile())

    def profile(self, collectors: Any = None, **input_dict: Any) -> Profile:
        """Seconds of each layer, to be printed; see Executable.profile.

        collectors   accepted; counters of the CPU are not read
        """
        self.set_input(**input_dict)
        return self.module.executable.profile(self.module.inputs)
