"""torch models as Relax modules: exported, decomposed, converted."""
