"""README and the guide show programs that run."""

import pathlib
import re

import pytest

root = pathlib.Path(__file__).parents[2]
programs = [
    pytest.param(program, id=f"{name}-{number}")
    for name in ("README.md", "docs/reference/python.md")
    for number, program in enumerate(
        re.findall(r"```python\n(.*?)```", (root / name).read_text(), re.DOTALL)
    )
]


@pytest.mark.parametrize("program", programs)
def test_runs(program, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(program, {"__name__": "__main__"})
