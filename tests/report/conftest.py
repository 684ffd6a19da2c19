"""The command line of tests/cli."""

from tests.cli.conftest import cli  # noqa: F401  (a fixture)
