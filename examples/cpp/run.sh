command -v c++ >/dev/null || { echo "there is no c++"; exit 77; }
set -e
c++ -std=c++17 -Wall -Wextra -Werror -pthread "$(dirname "$0")/main.cpp" -I"$1" -L"$1" -ldigits -Wl,-rpath,"$1" -o "$2/main"
"$2/main" "$1/pictures.f32" "$2/scores.f32"
