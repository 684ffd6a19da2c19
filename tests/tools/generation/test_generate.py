"""tvmq.generate: a text is a function of model, prompt and options; what is wrong is said in one sentence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tvmq
from tests.tools.generation.conftest import TINY, FakeDecoder
from tvmq.errors import ConfigError, DataError
from tvmq.runtime.inputs import TensorInfo
from tvmq.tools.generation.sampling import Sampling, draw_bits, weigh

PROMPT = [3, 1, 4, 1, 5, 9, 2, 6]


def expected(fake: FakeDecoder, prompt: list[int], count: int, stop: int = -1) -> list[int]:
    """Greedy tokens by the formula."""
    tokens = list(prompt)
    for _ in range(count):
        logits = np.sin(np.float32(sum(tokens)) * 1.7 + np.arange(fake.words)).astype(np.float32)
        tokens.append(int(np.argmax(logits)))
        if tokens[-1] == stop:
            break
    return tokens[len(prompt) :]


@pytest.mark.parametrize("chunk", [1, 3, 128])
def test_the_loop(fake: FakeDecoder, chunk: int) -> None:
    heard: list[tuple[int, int]] = []
    new = tvmq.generate(fake, PROMPT, max_new_tokens=6, chunk=chunk, on_token=lambda *pair: heard.append(pair))
    assert new.dtype == np.int64 and new.tolist() == expected(fake, PROMPT, 6)
    assert heard == [(0, token) for token in new]
    assert [call.shape[1] for call in fake.calls][-5:] == [1] * 5  # the last token goes through no more


def test_progress(fake: FakeDecoder, capsys: pytest.CaptureFixture[str]) -> None:
    tvmq.generate(fake, PROMPT, max_new_tokens=2, progress=True)
    assert "generate: 2 of 2 tokens, " in capsys.readouterr().err
    tvmq.generate(fake, PROMPT, max_new_tokens=2)
    assert capsys.readouterr().err == ""


def test_several_texts(fake: FakeDecoder) -> None:
    texts = [PROMPT, [7, 7], PROMPT[::-1], [5]]
    new = tvmq.generate(fake, texts, max_new_tokens=5)
    assert [one.tolist() for one in new] == [expected(fake, text, 5) for text in texts]
    assert {call.shape[0] for call in fake.calls} == {1, 2}  # those of one length together


def test_a_stop_ends_a_text_alone(fake: FakeDecoder) -> None:
    texts = [PROMPT, PROMPT[::-1], [2, 2, 2, 2, 2, 2, 2, 3]]
    whole = [expected(fake, text, 9) for text in texts]
    stop = whole[0][2]
    new = tvmq.generate(fake, texts, max_new_tokens=9, stop=stop)
    assert [one.tolist() for one in new] == [expected(fake, text, 9, stop) for text in texts]
    assert tvmq.generate(fake, PROMPT, max_new_tokens=9, stop=(stop, 10**6)).tolist() == expected(fake, PROMPT, 9, stop)


def test_a_model_of_one_token_and_one_text() -> None:
    fake = FakeDecoder(batch=1, length=1)
    new = tvmq.generate(fake, [PROMPT, PROMPT[::-1]], max_new_tokens=3)
    assert [one.tolist() for one in new] == [expected(fake, text, 3) for text in (PROMPT, PROMPT[::-1])]
    assert {call.shape for call in fake.calls} == {(1, 1)}


def test_drawing_is_the_same_in_any_batch(fake: FakeDecoder) -> None:
    options = {"max_new_tokens": 12, "temperature": 0.8, "top_k": 5, "seed": 2**64 - 1}
    together = tvmq.generate(fake, [PROMPT, PROMPT], **options)
    assert together[0].tolist() == tvmq.generate(fake, PROMPT, **options).tolist()
    assert together[1].tolist() == tvmq.generate(fake, PROMPT, **{**options, "seed": 0}).tolist()
    assert together[0].tolist() != together[1].tolist()


def test_draws_follow_the_weights() -> None:
    logits = np.log(np.float32([0.5, 0.25, 0.125, 0.125]))
    sampling = Sampling(1.0)
    counts = np.bincount([sampling.choose(logits, place) for place in range(4000)], minlength=4)
    np.testing.assert_allclose(counts / 4000, [0.5, 0.25, 0.125, 0.125], atol=0.03)
    best = Sampling(1.0, top_k=2)
    assert {best.choose(logits, place) for place in range(200)} == {0, 1}
    assert Sampling(1e-30).choose(logits, 0) == Sampling(0).choose(logits, 0) == 0
    assert Sampling().choose(np.float32([1, 3, 3]), 0) == 1  # the first one
    assert weigh(np.float32([2, 2, 2]), np.float32(1), 2).tolist() == [2**24, 2**24, 0]
    assert draw_bits(1, 0) != draw_bits(0, 0) != draw_bits(0, 1)


WRONG: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"tokens": []}, DataError, "the text must be a list of at least one token, as integers. Got [] instead"),
    ({"tokens": "Hello"}, DataError, "tokens must be integers, of one text or of several. Got 'Hello' instead"),
    ({"tokens": [[1], []]}, DataError, "text 1 must be a list of at least one token, as integers. Got [] instead"),
    ({"tokens": [1.5]}, DataError, "the text must be a list of at least one token, as integers. Got [1.5] instead"),
    ({"tokens": [3, 11]}, DataError, "the text holds token 11; the model has tokens 0 to 10"),
    ({"max_new_tokens": 0}, ConfigError, "max_new_tokens must be a whole number of at least 1. Got 0 instead"),
    ({"chunk": True}, ConfigError, "chunk must be a whole number of at least 1. Got True instead"),
    ({"temperature": -1}, ConfigError, "temperature must be a number of 0 to 1e6. Got -1 instead"),
    ({"temperature": "hot"}, ConfigError, "temperature must be a number of 0 to 1e6. Got 'hot' instead"),
    ({"top_k": 0}, ConfigError, "top_k must be a whole number of at least 1. Got 0 instead"),
    ({"seed": -1}, ConfigError, "seed must be a whole number of 0 to 2**64 - 1. Got -1 instead"),
    ({"stop": [1, "</s>"]}, ConfigError, "stop must be a token, or several. Got [1, '</s>'] instead"),
]


@pytest.mark.parametrize(("options", "kind", "words"), WRONG)
def test_wrong_options(fake: FakeDecoder, options: dict[str, Any], kind: type[Exception], words: str) -> None:
    options = {"tokens": PROMPT, **options}
    with pytest.raises(kind) as caught:
        tvmq.generate(fake, options.pop("tokens"), **options)
    assert str(caught.value) == f"generate: {words}" and not fake.calls


def test_logits_that_are_not_finite(fake: FakeDecoder) -> None:
    right = fake.run
    fake.run = lambda feed: [right(feed)[0] * np.nan, *right(feed)[1:]]  # type: ignore[method-assign]
    with pytest.raises(DataError, match=r"generate: the logits of position 7 hold NaN or infinities; `tvmq verify`"):
        tvmq.generate(fake, PROMPT)


def change(fake: FakeDecoder, **infos: Any) -> FakeDecoder:
    for name, value in infos.items():
        setattr(fake, name, value)
    return fake


def test_models_that_are_no_decoders(fake: FakeDecoder) -> None:
    ids, mask, positions, past = fake.input_info
    logits, present = fake.output_info
    cases = [
        ({"input_info": (*fake.input_info, TensorInfo("style", (1,), "float32"))},
         "a decoder takes tokens, and may take one mask, positions and caches (past.* beside present.*). This model's other "
         "inputs are input_ids int64[batch, sequence], attention_mask"),
        ({"input_info": (TensorInfo("x", ("batch", 3), "float32"), past)},
         "tokens are integers [batch, sequence]. The model takes x float32[batch, 3] instead"),
        ({"output_info": (TensorInfo("scores", ("batch", 11), "float32"), present)},
         "the model must have one output of logits [batch, sequence, words] beside its caches. It has scores float32"),
        ({"input_info": (TensorInfo("input_ids", (1, 8), "int64"), mask, positions, past)},
         "the model takes 8 tokens in each call; export it for any number of tokens, or for 1"),
        ({"input_info": (TensorInfo("input_ids", (1, 1), "int64"),), "output_info": (logits,)},
         "a model of one token in each call needs caches, which this one has not"),
        ({"input_info": (TensorInfo("input_ids", (4, "sequence"), "int64"), mask, positions, past)},
         "the model takes batches of 4 texts alone; export it for any batch, or for 1"),
    ]  # fmt: skip
    for infos, words in cases:
        with pytest.raises(ConfigError) as caught:
            tvmq.generate(change(FakeDecoder(), **infos), PROMPT)
        assert str(caught.value).startswith(f"generate: {words}"), str(caught.value)


def test_a_model_without_caches_reads_the_whole_text() -> None:
    fake = FakeDecoder()
    right, empty = fake.run, np.zeros((1, 2, 0, 1), np.float32)
    inputs, outputs = fake.input_info[:3], fake.output_info[:1]

    def run(feed: Any) -> list[np.ndarray]:
        return right({**feed, "past_key_values.0.key": empty})[:1]

    change(fake, input_info=inputs, output_info=outputs, run=run)
    assert tvmq.generate(fake, PROMPT, max_new_tokens=4, chunk=3).tolist() == expected(fake, PROMPT, 4)
    assert [call.shape[1] for call in fake.calls] == [3, 6, 8, 9, 10, 11]


@pytest.mark.slow
def test_compiled_tokens_are_those_of_the_definition(decoder: tvmq.Executable) -> None:
    """Chunks, batches and the definition: the same logits, and so the same tokens."""
    random = np.random.default_rng(0)
    texts = [random.integers(0, TINY.words, 21).tolist() for _ in range(3)]
    new = tvmq.generate(decoder, texts, max_new_tokens=6)
    for text, tokens in zip(texts, new, strict=True):
        assert tvmq.generate(decoder, text, max_new_tokens=6, chunk=5).tolist() == tokens.tolist()
    whole = np.array([[*texts[0], *new[0][:-1]]])
    definition = tvmq.reference.Reference(decoder.module)
    (logits,) = definition.run({"input_ids": whole}, definition.new_state())
    assert not definition.islands
    assert np.argmax(logits[0, len(texts[0]) - 1 :], axis=-1).tolist() == new[0].tolist()
