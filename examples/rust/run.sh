command -v rustc >/dev/null || { echo "there is no rustc"; exit 77; }
set -e
rustc --edition 2021 -O -D warnings "$(dirname "$0")/main.rs" -L "$1" -C link-arg="-Wl,-rpath,$1" -o "$2/main"
"$2/main" "$1/pictures.f32" "$2/scores.f32"
