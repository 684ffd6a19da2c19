#!/bin/sh
# tvmq on 64-bit Arm, in Debian's emulator.
#
#     tools/arm.sh fetch           fetch what is missing: 300 MB, about a minute
#     tools/arm.sh test            tests of what the CPU decides, on Neoverse N1; then models on four CPUs against the
#                                  definition (benchmarks/exactness_arm.py): some minutes
#     tools/arm.sh python ARGS     the emulated Python: TVMQ_ARM_CPU=cortex-a72 tools/arm.sh python -m tvmq doctor
#
# Needs Debian on x86-64 with apt and dpkg, and .venv with Python 3.10-3.13 (make install); nothing of the system changes.
# What is fetched lies in build/arm or $TVMQ_ARM:
#     packages, root  Python 3.11 and the libraries it needs, of Debian 12 for arm64
#     emulator        qemu-user 10 of Debian 13, a static binary; 7.2 would show this machine's /proc/cpuinfo
#     wheels, site    apache-tvm of the version in .venv, NumPy, ONNX, pytest and what they need, for aarch64
#     tree            a copy of the sources that run
# An emulator shows what is computed and refused, and nothing of speed. `-cpu max` is no CPU that exists: with its SME,
# OpenBLAS computes wrong products.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
arm=${TVMQ_ARM:-$root/build/arm}
here=$root/.venv/bin/python
emulator=$arm/emulator/usr/bin/qemu-aarch64
# What is needed of setup.cfg, and what the tests need beside it
REQUIRED="numpy>=1.26 onnx>=1.16 typer>=0.20 rich>=13 pytest>=8 hypothesis scipy lark onnxruntime fastapi jinja2 pillow pyyaml sympy"

# Packages of a release of Debian and what they need, into a folder; apt keeps its state there
debian() { # ARCHITECTURE RELEASE FOLDER NAMES...
    folder=$3
    mkdir -p "$folder/lists/partial" "$folder/cache/archives/partial"
    : > "$folder/status"
    # from where this machine gets its own
    archive=$(apt-get indextargets --format '$(REPO_URI) $(COMPONENT)' 'Created-By: Packages' |
        sed -n 's#/debian/ main$#/debian/#p' | head -n 1)
    [ -n "$archive" ] || { echo "arm.sh: apt knows no archive of Debian here; run apt-get update first" >&2; exit 1; }
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $archive $2 main" > "$folder/sources.list"
    cat > "$folder/apt.conf" <<CONF
APT { Architecture "$1"; Architectures { "$1"; }; Install-Recommends "0"; Sandbox::User "root"; };
Dir { State "$folder"; State::status "$folder/status"; State::lists "$folder/lists"; Cache "$folder/cache";
      Etc { SourceList "$folder/sources.list"; SourceParts "/dev/null"; Preferences "/dev/null"; PreferencesParts "/dev/null"; }; };
Debug::NoLocking "1";
CONF
    shift 3
    APT_CONFIG=$folder/apt.conf apt-get -qq update
    APT_CONFIG=$folder/apt.conf apt-get -qq --yes --download-only install "$@"
}

unpack() { # FOLDER OF PACKAGES, WHERE TO
    mkdir -p "$2"
    for package in "$1"/cache/archives/*.deb; do dpkg -x "$package" "$2"; done
}

fetch() {
    [ -f "$arm/fetched" ] && return
    mkdir -p "$arm"
    debian amd64 trixie "$arm/packages/emulator" qemu-user
    unpack "$arm/packages/emulator" "$arm/emulator"
    debian arm64 bookworm "$arm/packages/root" python3.11 libpython3.11-stdlib python3-distutils libstdc++6 libgcc-s1 \
        libgomp1 zlib1g libc-bin
    unpack "$arm/packages/root" "$arm/root"
    same=$("$here" -c 'from importlib.metadata import version as v
print(*(f"{name}=={v(name)}" for name in ("apache-tvm", "apache-tvm-ffi")))')
    platforms=$(for version in 2_28 2_27 2_26 2_24 2_17 2014; do
        printf -- '--platform manylinux%s_aarch64 ' "$(echo "$version" | sed 's/^2_/_2_/')"; done)
    # shellcheck disable=SC2086  # words of lists
    "$here" -m pip download --quiet --only-binary=:all: --python-version 3.11 --implementation cp \
        --abi cp311 --abi abi3 --abi none $platforms --dest "$arm/wheels" $same $REQUIRED
    for wheel in "$arm"/wheels/*.whl; do "$here" -m zipfile -e "$wheel" "$arm/site"; done
    touch "$arm/fetched"
}

# The sources, where `tvmq.passes` lies as in an installed package
copy_tree() {
    rm -rf "$arm/tree"
    mkdir -p "$arm/tree"
    tar -C "$root" --exclude=__pycache__ -cf - tvmq passes tests tools benchmarks pyproject.toml setup.cfg | tar -C "$arm/tree" -xf -
    mv "$arm/tree/passes" "$arm/tree/tvmq/passes"
    # sys.executable is this file, so that processes that tests start are emulated too
    cat > "$arm/python" <<LAUNCH
#!/bin/sh
exec "$emulator" -L "$arm/root" -cpu "\${TVMQ_ARM_CPU:-neoverse-n1}" -E PYTHONHOME="$arm/root/usr" \\
    -E PYTHONPATH="$arm/site:$arm/tree" -0 "$arm/python" "$arm/root/usr/bin/python3.11" "\$@"
LAUNCH
    chmod +x "$arm/python"
}

# Targets, saved files, the definition, kernels and builds, compiled there for the emulated CPU
TESTS="tests/codegen/target/test_cpu.py tests/codegen/target/test_saved_target.py tests/codegen/target/test_foreign.py tests/runtime/artifact/test_saved_file.py
    tests/numerics/test_requantize.py tests/codegen/kernels/elementwise/test_table.py tests/codegen/kernels/conv/test_matmul.py"

test_all() {
    status=0
    # shellcheck disable=SC2086  # words of a list
    (cd "$arm/tree" && "$arm/python" -m pytest -q -rfEs -p no:cacheprovider -m "not slow" $TESTS) || status=1
    "$here" "$root/benchmarks/exactness_arm.py" --only own --tasks "" --quick || status=1
    return $status
}

fetch
copy_tree
case ${1:-fetch} in
fetch) ;;
test) test_all ;;
python) shift; exec "$arm/python" "$@" ;;
*) echo "arm.sh: '$1' is no command; write fetch, test, or python ARGS" >&2; exit 2 ;;
esac
