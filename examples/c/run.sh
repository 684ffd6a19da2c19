command -v cc >/dev/null || { echo "there is no cc"; exit 77; }
set -e
cc -std=c11 -Wall -Wextra -Werror "$(dirname "$0")/main.c" -I"$1" -L"$1" -ldigits -Wl,-rpath,"$1" -o "$2/main"
"$2/main" "$1/pictures.f32" "$2/scores.f32"
