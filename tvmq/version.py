"""The version of tvmq; setup.cfg holds the same (a test compares them)."""

__version__ = "0.1.0.dev0"
