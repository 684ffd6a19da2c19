"""tvm.runtime.vm: the virtual machine of relay.vm.compile."""

from __future__ import annotations

from tvmq.relay.vm import Executable, VirtualMachine, load_executable

__all__ = ["Executable", "VirtualMachine", "load_executable"]
