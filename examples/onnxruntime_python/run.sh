python=${PYTHON:-python3}
"$python" -c "import numpy, onnxruntime" 2>/dev/null || { echo "$python has no onnxruntime"; exit 77; }
"$python" -I "$(dirname "$0")/main.py" "$1" "$1/pictures.f32" "$2/scores.f32"
