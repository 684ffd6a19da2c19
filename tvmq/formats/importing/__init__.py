"""Front ends: model files become Relax modules whose layers keep the names of their source."""
