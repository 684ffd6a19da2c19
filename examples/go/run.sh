command -v go >/dev/null || { echo "there is no go"; exit 77; }
command -v cc >/dev/null || { echo "there is no cc, which cgo needs"; exit 77; }
set -e
export GO111MODULE=off GOFLAGS= GOTOOLCHAIN=local GOCACHE="$2/cache" CGO_ENABLED=1 CGO_CFLAGS="-I$1" CGO_LDFLAGS="-L$1 -Wl,-rpath,$1"
go build -o "$2/main" "$(dirname "$0")/main.go"
"$2/main" "$1/pictures.f32" "$2/scores.f32"
