"""Quantize a network with one scale for all, or by data, and run it; the argument is an ONNX file.

What was an MXNet network and ImageNet is an ONNX file and noise here.
"""

import logging
import sys

import numpy as np

from tvmq import relay  # was: from tvm import relay
from tvmq.relay import tvm  # was: import tvm
from tvmq.relay.tvm import te  # was: from tvm import te
from tvmq.relay.tvm.contrib.download import download_testdata  # was: from tvm.contrib.download import download_testdata

batch_size = 1
input_name, image_shape = sys.argv[2], [int(size) for size in sys.argv[3].split("x")]
target = "llvm"
dev = tvm.device(target)
calibration_samples = 10
print("unused, as ever:", te.__name__, download_testdata.__name__)


def get_val_data():
    random = np.random.RandomState(0)
    return [random.uniform(0, 1, (batch_size, *image_shape)).astype("float32") for _ in range(12)]


def calibrate_dataset():
    for i, batch in enumerate(get_val_data()):
        if i * batch_size >= calibration_samples:
            break
        yield {input_name: batch}


def get_model():
    return relay.frontend.from_onnx(sys.argv[1], {input_name: (batch_size, *image_shape)}, freeze_params=False)


def quantize(mod, params, data_aware):
    if data_aware:
        with relay.quantize.qconfig(calibrate_mode="kl_divergence", weight_scale="max"):
            mod = relay.quantize.quantize(mod, params, dataset=calibrate_dataset())
    else:
        with relay.quantize.qconfig(calibrate_mode="global_scale", global_scale=8.0):
            mod = relay.quantize.quantize(mod, params)
    return mod


def run_inference(mod):
    model = relay.create_executor("vm", mod, dev, target).evaluate()
    predictions = []
    for data in get_val_data():
        prediction = model(data)
        predictions.append(prediction.numpy())
    return np.concatenate(predictions)


def main():
    mod, params = get_model()
    for data_aware in (False, True):
        quantized = quantize(mod, params, data_aware)
        logging.info(quantized.astext(show_meta_data=False))
        found = run_inference(quantized)
        print("data aware" if data_aware else "one scale", found.argmax(axis=1))
        assert found.shape[0] == 12 and np.isfinite(found).all()


if __name__ == "__main__":
    main()
