#!/bin/sh
# Runs examples: run_all.sh FOLDER [NAME...]. FOLDER is that of make_library.py. Each script run.sh builds and runs its
# program, which writes scores of the pictures; they must be those of the definition, byte for byte. Status 77: skipped.
here=$(cd "$(dirname "$0")" && pwd)
folder=$(cd "$1" && pwd) || exit 2
shift
[ $# -gt 0 ] || set -- c cpp static rust go node python_ctypes
status=0
for name in "$@"; do
    out="$folder/$name"
    rm -rf "$out"
    mkdir -p "$out"
    sh "$here/$name/run.sh" "$folder" "$out" >"$out/log" 2>&1
    result=$?
    if [ $result = 77 ]; then
        echo "$name: skipped: $(tail -n 1 "$out/log")"
    elif [ $result = 0 ] && cmp "$folder/scores.f32" "$out/scores.f32" >>"$out/log" 2>&1; then
        echo "$name: equal"
    else
        echo "$name: failed"
        cat "$out/log"
        status=1
    fi
done
exit $status
