"""``python -m heddle``: the command line, docs/reference/command-line.md. The wheel does not hold the
program, which is larger than the rest of it: HEDDLE_PROGRAM names the program, else the first on
the path is used."""

import os
import shutil
import sys


def main() -> int:
    program = os.environ.get("HEDDLE_PROGRAM") or shutil.which("heddle")
    try:
        if program is not None:
            os.execv(program, ["heddle", *sys.argv[1:]])
        why = (
            "the program heddle is not on the path: build it with scripts/build, and set "
            "HEDDLE_PROGRAM to it"
        )
    except OSError as error:
        why = f"{program} does not start: {error.strerror}"
    print(f"heddle: {why}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
