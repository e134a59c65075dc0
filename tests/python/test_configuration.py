"""What a report of an error should contain."""

import json
import os
import pathlib
import platform
import subprocess
import sys

import numpy as np
import pytest

import heddle


def test_configuration():
    shown = heddle.show_config("dicts")
    assert shown["version"] == heddle.__version__
    library = pathlib.Path(shown["library"])
    assert library.name.startswith("libheddle_c.so") and library.exists()
    assert shown["python"] == platform.python_version()
    assert shown["packages"]["numpy"] == np.__version__
    assert shown["instructions"]["compiled"]
    assert shown["threads"] >= 1
    # The profiles that come with the module.
    assert any(str(library.parent) in path for path in shown["folders"]["profiles_found"])
    if shown["cuda"] is not None:
        assert set(shown["cuda"]) == {"toolkit", "gpus", "nvrtc", "linker", "nccl"}


def test_it_is_printed(tmp_path):
    set_here = {"HEDDLE_CACHE_DIR": str(tmp_path), "OMP_NUM_THREADS": "1", "HEDDLE_NVRTC": "/none"}
    printed = subprocess.run(
        [sys.executable, "-c", "import heddle; heddle.show_config()"], check=True, text=True,
        capture_output=True, env={**os.environ, **set_here},
    ).stdout  # fmt: skip
    shown = json.loads(printed)
    assert shown["environment"].items() >= set_here.items()
    assert shown["folders"]["kernels"] == str(tmp_path)
    assert shown["threads"] == 1
    if shown["cuda"] is not None:
        assert "HEDDLE_NVRTC" in shown["cuda"]["nvrtc"]


def test_there_are_two_modes():
    with pytest.raises(heddle.UsageError, match="stdout"):
        heddle.show_config("json")
