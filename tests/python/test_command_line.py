"""`python -m heddle`."""

import os
import pathlib
import subprocess
import sys

import pytest


def run(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "heddle", *arguments],
        capture_output=True, text=True, env=os.environ | environment,
    )  # fmt: skip


def test_starts_the_program_that_is_named(tmp_path):
    program = tmp_path / "heddle"
    program.write_text('#!/bin/sh\necho "$@"\nexit 3\n')
    program.chmod(0o755)
    for environment in ({"HEDDLE_PROGRAM": str(program)}, {"PATH": f"{tmp_path}:{os.environ['PATH']}"}):
        ended = run("solve", "a b.mtx", **environment)
        assert (ended.returncode, ended.stdout) == (3, "solve a b.mtx\n")


def test_says_where_there_is_none(tmp_path):
    ended = run("info", PATH=str(tmp_path), HEDDLE_PROGRAM="")
    assert ended.returncode == 2 and "program heddle is not on the path" in ended.stderr
    ended = run("info", HEDDLE_PROGRAM=str(tmp_path / "absent"))
    assert ended.returncode == 2 and "does not start: No such file" in ended.stderr


def test_solves():
    program = pathlib.Path(__file__).parents[2] / "build" / "release" / "heddle"
    if not program.exists():
        pytest.skip("the program is not built")
    ended = run("--help", HEDDLE_PROGRAM=str(program))
    assert ended.returncode == 0 and "solve" in ended.stdout
