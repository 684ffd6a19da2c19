python=${PYTHON:-python3}
command -v "$python" >/dev/null || { echo "there is no $python"; exit 77; }
"$python" -c "import fastapi, numpy, tvmq, uvicorn" || { echo "$python has not all of fastapi, numpy, tvmq, uvicorn"; exit 77; }
"$python" "$(dirname "$0")/main.py" "$1" "$2"
