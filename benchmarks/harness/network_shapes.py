"""Distinct convolutions of large networks, for benchmarks/kernels.py --networks; batch 1, 224 x 224 (U-Net 256 x 256).

Written out from the published architectures: ResNet-18 and -50, VGG-11, MobileNet v2, EfficientNet-lite0, and a U-Net
of 16 channels and depth 4, whose transposed convolutions of 2 x 2 are 1 x 1 with four times the filters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tvmq.codegen.kernels.parts.kernel_types import Conv2d

# expansion, kernel, stride, filters, repeats
Row = tuple[int, int, int, int, int]
MOBILENET_V2: tuple[Row, ...] = (
    (1, 3, 1, 16, 1), (6, 3, 2, 24, 2), (6, 3, 2, 32, 3), (6, 3, 2, 64, 4), (6, 3, 1, 96, 3), (6, 3, 2, 160, 3),
    (6, 3, 1, 320, 1),
)  # fmt: skip
EFFICIENTNET_LITE0: tuple[Row, ...] = (
    (1, 3, 1, 16, 1), (6, 3, 2, 24, 2), (6, 5, 2, 40, 2), (6, 3, 2, 80, 3), (6, 5, 1, 112, 3), (6, 5, 2, 192, 4),
    (6, 3, 1, 320, 1),
)  # fmt: skip


def conv(size: int, channels: int, filters: int, kernel: int = 3, stride: int = 1, groups: int = 1) -> Conv2d:
    """A square convolution with as much padding as keeps the size."""
    square, border = (kernel, kernel), (kernel // 2,) * 4
    return Conv2d(1, size, size, channels, filters, square, (stride, stride), border, groups=groups)


def resnet18() -> Iterator[Conv2d]:
    """Two basic blocks for each of four sizes."""
    yield conv(224, 3, 64, 7, 2)
    channels, size = 64, 56
    for filters in (64, 128, 256, 512):
        if filters > channels:
            yield from (conv(size, channels, filters, 3, 2), conv(size, channels, filters, 1, 2))
            size //= 2
        yield conv(size, filters, filters)
        channels = filters


def resnet50() -> Iterator[Conv2d]:
    """Bottlenecks; the stride is in the 3 x 3."""
    yield conv(224, 3, 64, 7, 2)
    channels, size = 64, 56
    for width in (64, 128, 256, 512):
        stride = 1 if width == 64 else 2
        yield from (conv(size, channels, width, 1), conv(size, width, width, 3, stride))
        yield conv(size, channels, 4 * width, 1, stride)
        size //= stride
        yield from (conv(size, width, 4 * width, 1), conv(size, 4 * width, width, 1), conv(size, width, width))
        channels = 4 * width


def vgg11() -> Iterator[Conv2d]:
    """3 x 3 between poolings."""
    sizes = ((224, 3, 64), (112, 64, 128), (56, 128, 256), (56, 256, 256), (28, 256, 512), (28, 512, 512))
    yield from (conv(*size) for size in (*sizes, (14, 512, 512)))


def inverted(rows: tuple[Row, ...]) -> Iterator[Conv2d]:
    """Inverted residuals: 1 x 1 up, depthwise, 1 x 1 down."""
    yield conv(224, 3, 32, 3, 2)
    channels, size = 32, 112
    for expansion, kernel, first_stride, filters, repeats in rows:
        for repeat in range(repeats):
            stride, hidden = first_stride if repeat == 0 else 1, channels * expansion
            if expansion > 1:
                yield conv(size, channels, hidden, 1)
            yield conv(size, hidden, hidden, kernel, stride, hidden)
            size //= stride
            yield conv(size, hidden, filters, 1)
            channels = filters
    yield conv(size, channels, 1280, 1)


def unet256() -> Iterator[Conv2d]:
    """Two 3 x 3 at each of five sizes, down and up."""
    channels, size = 3, 256
    for filters in (16, 32, 64, 128, 256):
        yield from (conv(size, channels, filters), conv(size, filters, filters))
        channels, size = filters, size // 2
    for filters, size in ((128, 16), (64, 32), (32, 64), (16, 128)):
        yield from (conv(size, 2 * filters, 4 * filters, 1), conv(2 * size, 2 * filters, filters))


NETWORKS: dict[str, Callable[[], Iterator[Conv2d]]] = {
    "resnet18": resnet18,
    "resnet50": resnet50,
    "vgg11": vgg11,
    "mobilenet_v2": lambda: inverted(MOBILENET_V2),
    "efficientnet_lite0": lambda: inverted(EFFICIENTNET_LITE0),
    "unet256": unet256,
}


def title(shape: Conv2d) -> str:
    """Name of a shape in the table.

    >>> title(conv(56, 64, 128, 3, 2))
    '3x3 s2 56x56x64->128'
    """
    kind = "depthwise " if shape.groups > 1 else ""
    stride = f" s{shape.strides[0]}" if shape.strides[0] > 1 else ""
    filters = "" if shape.groups > 1 else f"->{shape.filters}"
    kernel = f"{shape.kernel[0]}x{shape.kernel[1]}"
    return f"{kind}{kernel}{stride} {shape.height}x{shape.width}x{shape.channels}{filters}"


def network_shapes(names: str) -> dict[str, Conv2d]:
    """Distinct shapes of networks, their names separated by commas; "all" for all of them.

    raises  SystemExit for unknown names
    """
    wanted = list(NETWORKS) if names == "all" else [name for name in names.split(",") if name]
    unknown = [name for name in wanted if name not in NETWORKS]
    if unknown:
        raise SystemExit(f"kernels: no network {', '.join(unknown)}; there are {', '.join(NETWORKS)}, or all")
    return {title(shape): shape for name in wanted for shape in NETWORKS[name]()}
