"""Shared parts of the importers, which assemble Relax modules whose layers keep the names of their source."""
