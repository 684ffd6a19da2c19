"""The command line of tests/tools/cli."""

from tests.tools.cli.conftest import cli  # noqa: F401  (a fixture)
