"""A fake-quantizer for any place of a torch model: codes of the definition forward, a gradient backward.

    forward    numerics.quantize, then (code - zero_point) * scale
    backward   straight through where a value has a code, zero where it saturates; scales that learn as step sizes
               (code of your own, `tvmq.extension.simulate_by`, takes the place of both)
    export     torch's own fake_quantize operator, so that tvmq.from_torch takes the scales over
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn

from tvmq.errors import CalibrationError, ConfigError
from tvmq.graph.operators.own_simulation import own_simulation
from tvmq.numerics.spec import QParams, QuantSpec, choose_qparams
from tvmq.training.own_rounding import simulate_values
from tvmq.training.straight_through import quantize_values


class FakeQuantize(nn.Module):
    """Rounds a tensor to codes and back, with gradients; activations or weights, anywhere in a model.

    params    scale and zero point; or a QuantSpec: the range is then the moving average of the batches' extremes, as
              long as the module is in training mode, and stays in evaluation mode
    momentum  share of the old range that a batch leaves
    learns    the scale is a parameter (LSQ); needs QParams
    raises    ConfigError for other params, and for channels with zero points that differ; CalibrationError in
              evaluation before any batch

    >>> fake = FakeQuantize(QParams(0.5, 3, QuantSpec()))
    >>> x = torch.tensor([0.3, -2.0, 200.0], requires_grad=True)
    >>> y = fake(x)
    >>> y.sum().backward()
    >>> y.tolist(), x.grad.tolist()
    ([0.5, -1.5, 126.0], [1.0, 0.0, 0.0])
    """

    start_scale: torch.Tensor
    start_zero_point: torch.Tensor

    def __init__(self, params: QParams | QuantSpec, *, momentum: float = 0.99, learns: bool = False) -> None:
        super().__init__()
        if not isinstance(params, QParams | QuantSpec):
            raise ConfigError(f"FakeQuantize: params must be QParams or a QuantSpec. Got {params!r} instead")
        self.spec = params if isinstance(params, QuantSpec) else params.spec
        self.momentum, self._fixed = momentum, None if isinstance(params, QuantSpec) else params
        self._range: tuple[float, float] | None = None  # numbers: in an export tensors have no values
        self.scale: nn.Parameter | None = None
        if self._fixed is not None:  # tensors of the module are constants of its export
            for name in ("scale", "zero_point"):
                values = torch.tensor(np.array(getattr(self._fixed, name)))
                self.register_buffer(f"start_{name}", values, persistent=False)
        if self._fixed is not None and len(np.unique(self._fixed.zero_point)) > 1:
            raise ConfigError("FakeQuantize: channels must have one zero point; give a symmetric spec")
        if learns:
            if self._fixed is None:
                raise ConfigError("FakeQuantize: a scale that learns needs a start; give QParams, not a QuantSpec")
            self.scale = nn.Parameter(self.start_scale.clone())

    @property
    def qparams(self) -> QParams:
        """Scale and zero point as they are now."""
        if self._fixed is None:
            if self._range is None:
                raise CalibrationError("FakeQuantize: no range is known; run batches in training mode, or give QParams")
            return choose_qparams(*self._range, self.spec)
        if self.scale is None:
            return self._fixed
        scale = self.scale.detach().numpy()
        return QParams(scale, self._fixed.zero_point, self.spec, self._fixed.axis)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Float32, the shape of x."""
        if torch.compiler.is_exporting():
            return self._export(x)
        if self._fixed is None and self.training:
            self._observe(x.detach())
        qparams = self.qparams
        shape = [1] * x.ndim
        if qparams.axis is not None:
            shape[qparams.axis] = -1
        scale = torch.tensor(np.array(qparams.scale)) if self.scale is None else self.scale
        scale = scale.reshape(shape if qparams.axis is not None else ())
        zero_point = int(np.ravel(qparams.zero_point)[0])
        codes = quantize_values(x, scale, qmin=self.spec.qmin, qmax=self.spec.qmax, zero_point=zero_point)
        usual = (codes - zero_point) * scale
        own = own_simulation()
        return usual if own is None else simulate_values(own, x, qparams, usual)

    def _observe(self, x: torch.Tensor) -> None:
        """Move the range towards that of a batch."""
        low, high = x.min().item(), x.max().item()
        if self._range is not None:
            share = 1 - self.momentum
            low, high = (end + share * (new - end) for end, new in zip(self._range, (low, high), strict=True))
        self._range = low, high

    def _export(self, x: torch.Tensor) -> torch.Tensor:
        """torch's operator of the same meaning, which the importer reads as the definition."""
        start, limits = self._fixed or self.qparams, (self.spec.qmin, self.spec.qmax)
        if start.axis is None and self.scale is None:
            numbers = float(start.scale), int(start.zero_point)
            return torch.fake_quantize_per_tensor_affine(x, *numbers, *limits)
        scale, zero_point = self.start_scale if self.scale is None else self.scale, self.start_zero_point
        if start.axis is None:
            return torch.fake_quantize_per_tensor_affine(x, scale, zero_point, *limits)
        return torch.fake_quantize_per_channel_affine(x, scale, zero_point, start.axis, *limits)

    def get_extra_state(self) -> dict[str, Any]:
        """The range, for state_dict."""
        return {"range": self._range}

    def set_extra_state(self, state: dict[str, Any]) -> None:
        """Inverse of `get_extra_state`."""
        self._range = state["range"]

    def extra_repr(self) -> str:
        """Its spec."""
        return f"{self.spec.dtype}, bits={self.spec.bits}, symmetric={self.spec.symmetric}"

