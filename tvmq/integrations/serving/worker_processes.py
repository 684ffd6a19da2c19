"""Worker processes of a server, which answer on one port.

Tests: tests/tools/cli/test_serve.py
"""

from __future__ import annotations

import inspect
import socket
import sys
from typing import Any

from tvmq.base.foreign_errors import needs_extra
from tvmq.base.interruption import catch_interrupts
from tvmq.errors import ConfigError

FACTORY = "tvmq.integrations.serving.model_server:app_of_worker"


def open_listening_socket(host: str, port: int) -> socket.socket:
    """A socket that waits for clients.

    Answers are sent at once: a socket that does not say that it is TCP's gets no TCP_NODELAY of asyncio, and then the
    body of an answer waits 40 ms for the client's word that it has the head.

    raises  ConfigError for an address or a port that cannot be had
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    waiting = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        waiting.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        waiting.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        waiting.bind((host, port))
        waiting.set_inheritable(True)
    except OSError as error:
        waiting.close()
        raise ConfigError(
            f"serve: port {port} of '{host}' cannot be used ({error.strerror or error}); choose another by --host and "
            "--port"
        ) from error
    return waiting


def run_workers(waiting: socket.socket, workers: int, *, factory: str = FACTORY, folder: str | None = None) -> None:
    """Run so many processes until they are told to stop, by Ctrl-C or SIGTERM.

    factory  "module:function" that makes the application in each of them
    folder   where that module is; None: it is installed
    raises   ConfigError where uvicorn is not installed
    """
    with needs_extra("serve", "uvicorn", "serve"):
        import uvicorn
        from uvicorn.supervisors import Multiprocess

    config = uvicorn.Config(factory, factory=True, workers=workers, log_level="warning", access_log=False)
    if folder is not None:
        sys.path.insert(0, folder)
    server = uvicorn.Server(config)
    with catch_interrupts():
        if workers == 1:
            try:
                server.run(sockets=[waiting])
            except KeyboardInterrupt:
                if not server.should_exit:  # otherwise it ended as it was told to, and uvicorn repeats the signal
                    raise
            return
        parameters = inspect.signature(Multiprocess).parameters  # which of them depends on the version
        extra: dict[str, Any] = {"target": server.run} if "target" in parameters else {}
        Multiprocess(config, sockets=[waiting], **extra).run()
