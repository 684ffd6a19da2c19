command -v npm >/dev/null && command -v node >/dev/null || { echo "there is no node with npm"; exit 77; }
cp "$(dirname "$0")/package.json" "$(dirname "$0")/main.js" "$2"
(cd "$2" && npm install --silent --no-audit --no-fund --fetch-retries 0 --fetch-timeout 20000) || { echo "npm cannot install koffi"; exit 77; }
node "$2/main.js" "$1/libdigits.so" "$1/pictures.f32" "$2/scores.f32"
