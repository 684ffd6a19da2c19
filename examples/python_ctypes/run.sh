command -v python3 >/dev/null || { echo "there is no python3"; exit 77; }
python3 -I "$(dirname "$0")/main.py" "$1/libdigits.so" "$1/pictures.f32" "$2/scores.f32"
