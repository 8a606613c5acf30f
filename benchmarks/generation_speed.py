"""Generated tokens a second of GPT-2: kerazoo, KerasHub, transformers.

Command:   .venv/bin/python benchmarks/generation_speed.py [--models 6x384 gpt2_small] [--quick]
Time:      a few minutes with --quick; the full run is for a machine that does nothing else

Compared:  kerazoo's `CausalLM.generate` with KerasHub's `GPT2CausalLM.generate` on the same Keras
           backend, with kerazoo's exported graph (TensorFlow without XLA, as TensorFlow Serving
           runs it), and with transformers' `GPT2LMHeadModel.generate` on PyTorch.
Same work: all sides read one random checkpoint, written by transformers, continue the same ready
           ids greedily, with a key-value cache, to the same length, and never stop early; the ids
           they give are compared first and must be equal. Float32, same number of threads. What
           is compiled is compiled before the clock starts.
"""

import math
import statistics
import tempfile
from pathlib import Path
from typing import Any

import measure

MODELS = {
    "6x384": {"n_layer": 6, "n_head": 6, "n_embd": 384},
    "gpt2_small": {"n_layer": 12, "n_head": 12, "n_embd": 768},
    "tiny": {"n_layer": 2, "n_head": 2, "n_embd": 64, "vocab_size": 997},
}


# ---- the sides, each in a process of its own ----------------------------------------------------


def make_side(library: str, folder: str, model: str, batch: int, prompt: int, new: int) -> Any:
    """Load one library's model and return what answers `do="check" | "generate"`."""
    import time

    import numpy as np

    rows = MODELS[model].get("vocab_size", 50257)
    prompts = np.random.default_rng(7).integers(0, rows, (batch, prompt), dtype="int32")
    generate = SIDES[library](folder, model, prompts, new)

    def answer(do: str, times: int = 1) -> Any:
        if do == "check":  # (batch, new) ids
            return np.asarray(generate())[:, prompt:].tolist()
        started = time.perf_counter()
        for _ in range(times):
            generate()
        return (time.perf_counter() - started) / times

    return answer


def _padded(prompts: Any, new: int) -> dict[str, Any]:
    import numpy as np

    padding_mask = np.pad(np.ones_like(prompts), ((0, 0), (0, new)))
    return {"token_ids": np.pad(prompts, ((0, 0), (0, new))), "padding_mask": padding_mask}


def _kerazoo(folder: str, model: str, prompts: Any, new: int) -> Any:
    import kerazoo

    task = kerazoo.CausalLM(kerazoo.GPTBackbone.from_preset(folder))
    inputs = _padded(prompts, new)
    return lambda: task.generate(inputs, stop_token_ids=None)["token_ids"]


def _kerazoo_served(folder: str, model: str, prompts: Any, new: int) -> Any:
    import tensorflow as tf

    import kerazoo
    from kerazoo.generation.row_sampling import RowSettings
    from kerazoo.generation.served_generation import continue_rows

    backbone = kerazoo.GPTBackbone.from_preset(folder)
    batch = len(prompts)

    @tf.function(jit_compile=False)
    def graph(ids: tf.Tensor) -> tf.Tensor:
        rows = continue_rows(
            backbone,
            tf.RaggedTensor.from_tensor(ids),
            tf.fill([batch], new),
            RowSettings(tf.zeros([batch]), tf.zeros([batch], tf.int32), tf.ones([batch])),
            tf.zeros([batch], tf.int32),
            end_token_id=None,
            longest=new,
        )
        return tf.concat([ids, rows.to_tensor()], axis=1)

    ids = tf.constant(prompts)
    return lambda: graph(ids).numpy()


def _kerashub(folder: str, model: str, prompts: Any, new: int) -> Any:
    import keras_nlp

    task = keras_nlp.models.GPT2CausalLM(keras_nlp.models.GPT2Backbone.from_preset(folder))
    task.compile(sampler="greedy")
    inputs = _padded(prompts, new)
    return lambda: task.generate(dict(inputs), stop_token_ids=None)["token_ids"]


def _transformers(folder: str, model: str, prompts: Any, new: int) -> Any:
    import os

    import torch
    from transformers import GPT2LMHeadModel

    if not os.listdir(folder):
        _write_checkpoint(folder, model)
    task = GPT2LMHeadModel.from_pretrained(folder).eval()
    ids = torch.tensor(prompts, dtype=torch.long)
    mask = torch.ones_like(ids)

    def generate() -> Any:
        with torch.inference_mode():
            return task.generate(
                ids,
                attention_mask=mask,
                max_new_tokens=new,
                min_new_tokens=new,
                do_sample=False,
                use_cache=True,
                eos_token_id=None,
                pad_token_id=0,
            ).numpy()

    return generate


def _weights_read_once(folder: str, model: str, prompts: Any, new: int) -> Any:
    import torch
    from transformers import GPT2LMHeadModel

    weights = dict(GPT2LMHeadModel.from_pretrained(folder).named_parameters())
    del weights["transformer.wpe.weight"]  # of the positions a row is read
    matrices = [weight.detach().ravel() for weight in weights.values() if weight.ndim == 2]
    numbers = torch.cat(matrices)

    def generate() -> None:
        with torch.inference_mode():
            for _ in range(new):
                numbers.sum()

    return generate


def _weights_multiplied_on_jax(folder: str, model: str, prompts: Any, new: int) -> Any:
    import jax
    import numpy as np
    from transformers import GPT2LMHeadModel

    weights = dict(GPT2LMHeadModel.from_pretrained(folder).named_parameters())
    del weights["transformer.wpe.weight"]  # of the positions a row is read
    vocabulary = weights.pop("transformer.wte.weight").detach().numpy()
    kernels = [weight.detach().numpy() for weight in weights.values() if weight.ndim == 2]
    matrices = [jax.device_put(matrix) for matrix in (*kernels, np.ascontiguousarray(vocabulary.T))]

    @jax.jit
    def products(matrices: Any) -> Any:
        def token(_: Any, begin: Any) -> Any:
            for matrix in matrices:
                # Each waits for the one before, as in a model.
                state = jax.numpy.resize(begin, (1, matrix.shape[0]))
                begin = jax.numpy.tanh(state @ matrix)[0, :64]
            return begin

        return jax.lax.fori_loop(0, new, token, jax.numpy.ones(64))

    return lambda: products(matrices).block_until_ready()


READ_ONCE = "weights read once"
MULTIPLIED = "weights multiplied once, XLA"
SIDES = {
    "kerazoo": _kerazoo,
    "kerazoo, exported graph": _kerazoo_served,
    "KerasHub": _kerashub,
    "transformers": _transformers,
    READ_ONCE: _weights_read_once,
    MULTIPLIED: _weights_multiplied_on_jax,
}
LIMITS = (READ_ONCE, MULTIPLIED)
OF_NO_BACKEND = ("transformers", *LIMITS)


def _write_checkpoint(folder: str, model: str) -> None:
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.manual_seed(7)
    # A wider spread than usual: with 0.02 a random model repeats one token, and the check of equal
    # ids would see little.
    config = GPT2Config(**MODELS[model], initializer_range=0.05, bos_token_id=0, eos_token_id=0)
    GPT2LMHeadModel(config).save_pretrained(folder)


# ---- the benchmark ------------------------------------------------------------------------------


def compare(model: str, batch: int, given: Any, folder: Path) -> list[dict[str, Any]]:
    """Measure one model with one batch size and return the table's lines."""
    role = {"folder": str(folder), "model": model, "batch": batch}
    role |= {"prompt": given.prompt, "new": given.new}
    with measure.Sides(__file__, given.threads) as sides:
        baseline = sides.start("transformers", library="transformers", **role)
        baseline.wait()
        everyone = [baseline]
        for backend in given.backends:
            for library in SIDES:
                if library in OF_NO_BACKEND or ("exported" in library and backend != "tensorflow"):
                    continue
                name = f"{library} on {backend}"
                everyone.append(sides.start(name, backend, library=library, **role))
        for side in everyone[1:]:
            side.wait()
        measure.check_equal({side.name: side.ask(do="check") for side in everyone}, 0)
        if batch == 1:
            limits = [sides.start(name, library=name, **role) for name in LIMITS]
            for side in limits:
                side.wait()
            everyone += limits
        slowest = max(side.ask(do="generate") for side in everyone)
        count = max(1, math.ceil(given.seconds / slowest))
        times = measure.take_turns(everyone, given.rounds, do="generate", times=count)
    rows = []
    for backend in given.backends:
        ours = times[f"kerazoo on {backend}"]
        for name, seconds in times.items():
            if not name.endswith(f" on {backend}") and name not in OF_NO_BACKEND:
                continue
            rows.append(
                {
                    "model": model,
                    "batch": batch,
                    "backend": backend,
                    "side": name.removesuffix(f" on {backend}"),
                    "tokens/s": batch * given.new / statistics.median(seconds),
                    "kerazoo is × as fast": measure.ratio(seconds, ours),
                }
            )
            measure.say(rows[-1])
    return rows


def main() -> None:
    """Parse the options, measure, print."""
    parser = measure.options(__doc__)
    parser.add_argument("--models", nargs="+", default=["6x384", "gpt2_small"], choices=MODELS)
    parser.add_argument("--backends", nargs="+", default=["tensorflow", "jax"], help="of Keras")
    parser.add_argument("--batches", nargs="+", type=int, default=[1, 8], help="prompts at once")
    parser.add_argument("--prompt", type=int, default=32, help="tokens of each prompt")
    parser.add_argument("--new", type=int, default=96, help="tokens of each continuation")
    parser.add_argument("--seconds", type=float, default=2.0, help="length of one turn, at least")
    given = parser.parse_args()
    if given.quick:
        given.models, given.rounds, given.seconds = ["tiny"], 2, 0.1
        given.prompt, given.new = 8, 8
    before = measure.machine()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for model in given.models:
            (Path(folder) / model).mkdir()
            for batch in given.batches:
                rows += compare(model, batch, given, Path(folder) / model)
    measure.publish(
        f"Greedy, {given.prompt} prompt tokens, {given.new} new ones, {given.threads} threads.",
        rows,
        before,
        given.json,
    )


if __name__ == "__main__":
    measure.run(main, make_side)
