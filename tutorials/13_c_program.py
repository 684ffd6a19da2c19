# %% [markdown]
# # 13. From a model to a C program
#
# A saved model runs where Python, NumPy and apache-tvm are. A camera, a plug-in or a game has none of them. Here the
# model becomes one shared library with one header, and a program of thirty lines in C calls it. It computes the bits
# that `exe.run` gives.
#
# Run it in the folder of the sources: `python tutorials/13_c_program.py`. It needs Linux on x86-64, and nothing beyond
# tvmq; `pip install '.[tutorials]'` brings what other tutorials need. Without a C compiler the cells that compile say
# so, and the rest runs.

# %%
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import tvmq
from tvmq.demo import load_demo

demo = load_demo()
mod, params = tvmq.from_onnx(demo.model, shape={"image": (1, 1, 16, 16)})
qmod = tvmq.quantize(mod, params, {"image": demo.calibration[:48]})
exe = tvmq.build(qmod)
pictures = demo.test[:100]
scores = np.concatenate([exe.run({"image": picture[None]})[0] for picture in pictures])
print(f"{(scores.argmax(1) == demo.labels[:100]).mean():.0%} of the pictures are read right")

# %% [markdown]
# ## The library
#
# `export_library` compiles the module and links it by itself: no compiler is needed. (On the command line: `tvmq
# export-library digits.tvmq -o digits/`.) `x86-64-v3` is every x86 of the last ten years; without a target it would be
# this very CPU.

# %%
folder = Path(tempfile.mkdtemp()) / "digits"
export = tvmq.export_library(exe, folder, target="x86-64-v3")
for path in sorted(folder.iterdir()):
    print(f"{path.name:14} {path.stat().st_size:7,} bytes")
print("constants:", f"{export.constant_bytes:,} bytes")
print("asks a program for:", ", ".join(export.undefined))

assert {path.name for path in folder.iterdir()} == {"libdigits.so", "digits.h", "digits.json", "example.c"}
assert not any("tvm" in name.lower() or "std" in name for name in export.undefined)

# %% [markdown]
# The kernels, the weights and what calls the kernels in order are all in the `.so`. It asks for two functions that
# every program on Linux has, and for no library by name. All names in the header begin with the model's, so that a
# program can hold several models:

# %%
header = (folder / "digits.h").read_text()
print("\n".join(re.findall(r"^(?:int|int64_t|const char \*) ?\**digits_\w+\([^;]*;", header, re.MULTILINE)))

# %% [markdown]
# ## The program
#
# The program gives memory, the library computes in it. `digits_init` comes once and says whether this CPU has the
# instructions. `digits_workspace_bytes` says how much memory a run needs. `digits_run` allocates nothing, takes no lock
# and reads no file: any number of threads may call it, each with a workspace of its own. What is wrong with an argument
# comes back as a negative status, and `digits_status_text` has a sentence for each.

# %%
(folder / "read_digits.c").write_text(r"""
#include <stdio.h>
#include <stdlib.h>

#include "digits.h"

static _Alignas(DIGITS_ALIGNMENT) float image[16 * 16], scores[10];

static int fail(int status)
{
    fprintf(stderr, "%s\n", digits_status_text(status));
    return 1;
}

int main(void)
{
    digits_buffer input = {image, sizeof image}, output = {scores, sizeof scores};
    int status = digits_init();
    if (status) return fail(status);
    size_t bytes = (size_t)digits_workspace_bytes(NULL, 1), whole = (bytes / DIGITS_ALIGNMENT + 1) * DIGITS_ALIGNMENT;
    digits_buffer workspace = {aligned_alloc(DIGITS_ALIGNMENT, whole), bytes};
    while (fread(image, sizeof image, 1, stdin) == 1) {  /* pictures in, scores out */
        status = digits_run(NULL, &input, &output, workspace, NULL);
        if (status) return fail(status);
        fwrite(scores, sizeof scores, 1, stdout);
    }
    return 0;
}
""")

compiler = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)


def compile_program(name, folder):
    """The program of NAME.c, linked with the library beside it."""
    link = ["-L", folder, "-ldigits", "-Wl,-rpath,$ORIGIN"]
    subprocess.run([compiler, "-std=c11", "-O2", folder / f"{name}.c", *link, "-o", folder / name], check=True)
    return folder / name


if compiler is None:
    print("there is no C compiler here: nothing is compiled")
else:
    program = compile_program("read_digits", folder)
    done = subprocess.run([program], input=pictures.tobytes(), capture_output=True, check=True)
    from_c = np.frombuffer(done.stdout, np.float32).reshape(-1, 10)
    print(f"{len(from_c)} pictures, {np.count_nonzero(from_c != scores)} scores differ from those of exe.run")
    assert np.array_equal(from_c, scores)

# %% [markdown]
# `-rpath $ORIGIN` lets the program look for the library in its own folder: ship both files together, and nothing else.
#
# ## Self-test
#
# Will the new board compute what this machine does? The library holds hashes of what the NumPy definition gives for
# inputs that it makes itself, layer by layer. `digits_selftest` runs the code on them: 0, or the first layer with
# another result. It notices a processor with an error as well as a bit that has flipped in the weights.

# %%
(folder / "selftest.c").write_text(r"""
#include <stdio.h>
#include <stdlib.h>

#include "digits.h"

int main(void)
{
    digits_difference difference;
    int status = digits_init();  /* how much memory it takes depends on the code that is chosen */
    if (!status) {
        size_t bytes = (size_t)digits_selftest_bytes(), whole = (bytes / DIGITS_ALIGNMENT + 1) * DIGITS_ALIGNMENT;
        digits_buffer memory = {aligned_alloc(DIGITS_ALIGNMENT, whole), bytes};
        status = digits_selftest(memory, &difference);
    }
    printf("%s: ", digits_status_text(status));
    if (status == DIGITS_DIFFERS) printf("%s\n", difference.layer);
    if (!status) printf("%u results are those of the definition\n", difference.compared);
    return status != 0;
}
""")
if compiler is not None:
    done = subprocess.run([compile_program("selftest", folder)], capture_output=True, text=True, check=True)
    print(done.stdout)
    assert "results are those of the definition" in done.stdout

# %% [markdown]
# ## From Python, without TVM
#
# `tvmq.load` opens the folder as well. Then TVM is not imported, and need not be installed: ctypes and NumPy are
# enough. With `wheel=True` the export is a package for pip that needs NumPy alone.

# %%
(folder / "pictures.bin").write_bytes(pictures.tobytes())
script = """
import sys
import numpy as np
import tvmq

model = tvmq.load(".")
pictures = np.fromfile("pictures.bin", np.float32).reshape(-1, 1, 1, 16, 16)
np.concatenate([model(picture) for picture in pictures]).tofile("scores.bin")
print(model.input_info[0], "->", model.output_info[0])
assert "tvm" not in sys.modules
"""
print(subprocess.run([sys.executable, "-c", script], cwd=folder, capture_output=True, text=True, check=True).stdout)
assert np.array_equal(np.fromfile(folder / "scores.bin", np.float32).reshape(-1, 10), scores)

# %% [markdown]
# ## Several instruction sets
#
# One library can have code for several CPUs. `digits_init` takes the best that this one can run; constants that the
# codes share are there once. Results do not depend on which it was: that is what the definition is for.

# %%
both = tvmq.export_library(exe, folder.parent / "both" / "digits", target=["x86-64-v2", "x86-64-v3", "avx512-vnni"])
facts = json.loads(both.facts.read_text())
for code in facts["targets"]:
    print(f"{code['name']:14} needs {' '.join(code['needs'])[:80]}")
print(f"{both.library_bytes / export.library_bytes:.1f} times the bytes of one")

model = tvmq.load(both.library)
assert np.array_equal(np.concatenate([model(picture[None]) for picture in pictures]), scores)

# %% [markdown]
# `digits_select_code(name)` takes one by its name, for tests of each; the self-test then says whether this CPU computes
# it right.
#
# What is left: threads of the program or of the library, the package for pip, programs in C++, Rust, Go and Node. The
# page about C libraries (`docs/library.md`) and the folder `examples/` have them.
