"""docs/recipes.md: its code and commands run, with random weights in the place of what is downloaded."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pytest

import tvmq
from tests.docs.test_docs import DOCS, blocks, commands
from tvmq.tools.cli.main import main

torch = pytest.importorskip("torch", reason='torch is an extra: pip install "tvmq[torch]"')
pytestmark = pytest.mark.slow

PAGE = DOCS / "recipes.md"
WORDS = "a the man woman dog cat plays runs eats guitar street small big red food with on in park child".split()


def code_of(word: str) -> list[str]:
    """Python of the page, from the first block that has a word on."""
    python = blocks(PAGE)
    return python[next(i for i, block in enumerate(python) if word in block) :]


@pytest.fixture
def run(monkeypatch, tmp_path, capsys) -> Callable[[str], str]:
    """run("vit.onnx") runs the page's commands that name a file, in an empty folder: what they print."""
    monkeypatch.chdir(tmp_path)
    torch.manual_seed(0)

    def run_commands(name: str) -> str:
        lines = [line for line in commands(PAGE.read_text(encoding="utf-8")) if name in line]
        assert lines, f"{PAGE.name} has no command of {name}"
        for line in lines:
            monkeypatch.setattr(sys, "argv", [*shlex.split(line), "--no-bench", "--samples", "16", "--force"])
            with pytest.raises(SystemExit) as ended:
                main()
            # 4: of random weights nothing but doubts can be said
            assert ended.value.code in (0, None, 4), line
        return capsys.readouterr().out

    return run_commands


def draw_pictures(folder, count: int, side: int) -> None:
    image = pytest.importorskip("PIL.Image", reason="pillow is an extra: pip install 'tvmq[images]'")
    folder.mkdir(parents=True)
    for number in range(count):
        pixels = np.random.default_rng(number).integers(0, 256, (8, 8, 3), np.uint8)
        image.fromarray(pixels).resize((side + 30, side)).save(folder / f"{number}.png")


def make_tokenizer():
    """Words of WORDS between BERT's marks."""
    transformers = pytest.importorskip("transformers", reason="the recipe's own package")
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS]
    tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(names)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    marks = [("[CLS]", 2), ("[SEP]", 3)]
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=marks)
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]")


def test_bert(monkeypatch, tmp_path, capsys):
    tokenizer = make_tokenizer()
    import transformers

    monkeypatch.chdir(tmp_path)
    torch.manual_seed(0)
    config = transformers.BertConfig(
        hidden_size=64, num_hidden_layers=2, num_attention_heads=2, intermediate_size=128, vocab_size=len(WORDS) + 4
    )
    monkeypatch.setattr(transformers.AutoModel, "from_pretrained", lambda name: transformers.BertModel(config))
    monkeypatch.setattr(transformers.AutoTokenizer, "from_pretrained", lambda name: tokenizer)
    random = np.random.default_rng(0)
    sentences = [" ".join(random.choice(WORDS, random.integers(4, 14))) for _ in range(200)]
    names = {"sentences": sentences, "pairs": list(zip(sentences[:6], sentences[6:12], range(6), strict=True))}
    quantizing, scoring = code_of("AutoTokenizer")[:2]
    exec(quantizing, names)
    exec(scoring, names)
    printed = dict(line.split() for line in capsys.readouterr().out.splitlines() if line.count(" ") == 1)
    assert float(printed["int8"]) == pytest.approx(float(printed["float"]), abs=0.3)
    batch = {name: ids.numpy() for name, ids in names["tokens"](sentences[:3]).items()}
    assert tvmq.verify(names["exe"], [batch]).exact
    (saved,) = tvmq.load("minilm.tvmq").run(batch)
    assert saved.shape == (3, 64)


def test_vit(run, monkeypatch, tmp_path, capsys):
    timm = pytest.importorskip("timm", reason="the recipe's own package")
    create = timm.create_model
    monkeypatch.setattr(timm, "create_model", lambda name, pretrained: create(name, depth=1))
    exec(code_of("timm")[0], {})
    options = capsys.readouterr().out.splitlines()[-1]
    assert options in PAGE.read_text(encoding="utf-8")  # the command has what the recipe prints
    for name in ("n01440764", "n01443537"):
        draw_pictures(tmp_path / "imagenet" / name, 12, 240)
    assert "top1" in run("vit.onnx")


def test_yolo(run, tmp_path, monkeypatch):
    ultralytics = pytest.importorskip("ultralytics", reason="the recipe's own package")
    ultralytics.YOLO("yolo11n.yaml").export(format="onnx", imgsz=64)
    draw_pictures(tmp_path / "pictures", 12, 64)
    images = np.random.default_rng(0).random((12, 3, 64, 64), np.float32)
    boxes = [np.array([[1, 4, 4, 30, 30], [2, 20, 10, 60, 40]][: 1 + number % 2], np.float32) for number in range(12)]
    exec(code_of("labelled.npz")[0], {"images": images, "boxes": boxes})
    assert "multiply-accumulates" in run("yolo11n.onnx")


def test_whisper(monkeypatch, tmp_path, capsys):
    transformers = pytest.importorskip("transformers", reason="the recipe's own package")
    pytest.importorskip("jiwer", reason="the recipe's own package")
    monkeypatch.chdir(tmp_path)
    torch.manual_seed(0)
    half = {"layers": 1, "attention_heads": 2, "ffn_dim": 128}
    sides = {f"{side}_{name}": number for side in ("encoder", "decoder") for name, number in half.items()}
    whisper = transformers.WhisperForConditionalGeneration(transformers.WhisperConfig(d_model=64, **sides))
    whisper.generation_config = transformers.GenerationConfig(
        max_new_tokens=4, decoder_start_token_id=50257, eos_token_id=50256, pad_token_id=50256
    )
    extract = transformers.WhisperFeatureExtractor()

    class Processor(SimpleNamespace):
        def __call__(self, sound, **options):
            return extract(sound, **options)

    words = Processor(batch_decode=lambda ids, skip_special_tokens: [" ".join(str(int(i)) for i in row) for row in ids])
    monkeypatch.setattr(transformers.WhisperProcessor, "from_pretrained", lambda name: words)
    monkeypatch.setattr(transformers.WhisperForConditionalGeneration, "from_pretrained", lambda name: whisper)
    time = np.arange(16000, dtype=np.float32) / 16000
    sounds = [np.sin(2 * np.pi * 100 * (2 + number) * time) * 0.3 for number in range(4)]
    names = {"sounds": sounds, "texts": ["one two"] * 4}
    quantizing, scoring = code_of("WhisperProcessor")[:2]
    exec(quantizing, names)
    exec(scoring, names)
    assert "int8" in capsys.readouterr().out
    assert tvmq.verify(names["exe"], [{"features": names["features_of"](sounds[0]).numpy()}]).exact
