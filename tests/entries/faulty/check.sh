#!/bin/sh
# check.sh COMPILER FLAGS...: each faulty entry beside this script must fail to compile, and the
# first line of the compiler that says "error:" must name what the entry lacks.
here=$(dirname "$0")
status=0
check() {
  if output=$("$@" -fsyntax-only "$here/$name.cpp" 2>&1); then
    echo "$name.cpp: compiled, but '$missing' is missing" >&2
    status=1
    return
  fi
  first=$(printf '%s\n' "$output" | grep -m 1 error:)
  case $first in
    *"$missing"*"is missing"*) echo "$name.cpp: $first" ;;
    *)
      echo "$name.cpp: the first error does not name '$missing': $first" >&2
      status=1
      ;;
  esac
}
if [ $# -eq 0 ]; then
  echo "usage: $0 COMPILER FLAGS..." >&2
  exit 2
fi
name=no_zero missing='static zero()' && check "$@"
name=no_multiply_add missing='multiply_add(y, a, x)' && check "$@"
name=no_vector_entry missing='using vector_entry = ...' && check "$@"
exit $status
