"""torch models: `importer/` reads exported programs and quantized modules, `exporter/` writes torch modules."""
