"""Choices of a search: an option for each layer, and options of the whole network.

Tests: tests/quantization/search/test_parts.py
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any

from tvmq.errors import ConfigError
from tvmq.numerics.spec import QuantSpec
from tvmq.options.config import QConfig
from tvmq.options.rules import DYNAMIC, Rule, did_you_mean
from tvmq.quantization.search.goal import SIZE

INT8, FLOAT = "int8", "float"
INT4_WEIGHTS = "weights4"
# Option of a layer -> what its rule says besides the name of the layer
OPTIONS: dict[str, dict[str, Any]] = {
    INT8: {},
    INT4_WEIGHTS: {"weights": QuantSpec("int8", 4, symmetric=True, per_channel=True)},
    "weights6": {"weights": QuantSpec("int8", 6, symmetric=True, per_channel=True)},
    "int16": {"activations": QuantSpec("int16", 16, symmetric=True)},
    "minmax": {"observer": "minmax"},
    "percentile": {"observer": "percentile"},
    "histogram": {"observer": "histogram"},
    "kl_divergence": {"observer": "kl_divergence"},
    DYNAMIC: {"activations": DYNAMIC},
    FLOAT: {"spec": None},
}
USUAL = (INT8, "minmax", DYNAMIC, FLOAT)
NETWORKS: tuple[Mapping[str, Any], ...] = ({}, {"scheme": "symmetric", "dtype_input": "int8"})


@dataclass(frozen=True)
class SearchSpace:
    """Options that may be chosen.

    options   of a layer: names of OPTIONS; "int8" is always among them. None: int8, thresholds by minmax, scales made
              at run time and float; for a small model 4-bit weights too
    networks  options of qconfig for the whole network, each a dictionary; the best one of them is taken
    layers    {glob of layer names: options}; other layers have `options`. The last glob that matches wins
    raises    ConfigError for a name that there is not

    >>> SearchSpace(options=("int8", "float")).of(["/head/Gemm"], "latency")
    ('int8', 'float')
    >>> SearchSpace(options=("int8", "float"), layers={"/head/*": ["float"]}).of(["/head/Gemm"], "latency")
    ('float',)
    """

    options: Sequence[str] | None = None
    networks: Sequence[Mapping[str, Any]] = NETWORKS
    layers: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in (*(self.options or ()), *(name for names in self.layers.values() for name in names)):
            if name not in OPTIONS:
                raise ConfigError(f"search: there is no option '{name}' of a layer{did_you_mean(name, OPTIONS)}")
        if not self.networks:
            raise ConfigError("search: networks= names no options of the network; give at least {}")

    def names(self, minimize: str) -> tuple[str, ...]:
        """All options of layers, "int8" first."""
        options = self.options or (*USUAL, *((INT4_WEIGHTS,) if minimize == SIZE else ()))
        return tuple(dict.fromkeys((INT8, *options, *(name for names in self.layers.values() for name in names))))

    def of(self, layer: Sequence[str], minimize: str) -> tuple[str, ...]:
        """Options of a layer by its names."""
        globs = [glob for glob in self.layers if any(fnmatchcase(name, glob) for name in layer)]
        if globs:
            return tuple(dict.fromkeys(self.layers[globs[-1]]))
        return tuple(dict.fromkeys((INT8, *(self.options or self.names(minimize)))))

    def to_dict(self) -> dict[str, Any]:
        """Dictionary for JSON."""
        return {
            "options": None if self.options is None else list(self.options),
            "networks": [dict(network) for network in self.networks],
            "layers": {glob: list(names) for glob, names in self.layers.items()},
        }


def rule_of(layer: str, option: str, config: QConfig) -> Rule:
    """The rule that gives layers of this name, or glob, an option other than "int8".

    config  says whether weights have a scale for each channel
    """
    arguments = dict(OPTIONS[option])
    if "weights" in arguments:
        arguments["weights"] = replace(arguments["weights"], per_channel=config.per_channel)
    return Rule(layer, **arguments)


@dataclass(frozen=True)
class Recipe:
    """A choice.

    layers     ((key of the layer in the ledger, option), ...) of all layers that are not "int8"; sorted
    network    (option of qconfig, value), ...
    finetuned  how its integers are trained, in words; "" where they are not

    >>> Recipe((("lv3", "float"),)).rules(QConfig())
    (Rule('lv3', None),)
    """

    layers: tuple[tuple[str, str], ...] = ()
    network: tuple[tuple[str, Any], ...] = ()
    finetuned: str = ""

    @staticmethod
    def from_choice(layers: Mapping[str, str], network: Mapping[str, Any]) -> Recipe:
        """Recipe of {key: option} and {option of qconfig: value}."""
        chosen = sorted((key, option) for key, option in layers.items() if option != INT8)
        return Recipe(tuple(chosen), tuple(sorted(network.items())))

    def rules(self, config: QConfig, names: Mapping[str, str] | None = None) -> tuple[Rule, ...]:
        """Rules by which `quantize` makes these choices.

        config  options around
        names   {key: display name of the layer}; by default the keys
        """
        return tuple(rule_of((names or {}).get(key, key), option, config) for key, option in self.layers)

    def config(self, config: QConfig) -> QConfig:
        """Options of `quantize` but for the rules of `rules()`."""
        return replace(config, **dict(self.network)) if self.network else config

    def to_json(self) -> str:
        """JSON; equal texts for equal choices."""
        parts = [self.layers, self.network, *([self.finetuned] if self.finetuned else [])]
        return json.dumps(parts, separators=(",", ":"))

    @staticmethod
    def from_json(text: str) -> Recipe:
        """Inverse of `to_json`."""
        layers, network, *finetuned = json.loads(text)
        chosen, options = (tuple((name, value) for name, value in part) for part in (layers, network))
        return Recipe(chosen, options, *finetuned)
