"""Settings by name: which of them a call takes, and how its signature and docstring show them. The
library has the table of all settings, so a new setting needs no change here."""

from __future__ import annotations

import inspect
import json
import reprlib
from collections.abc import Callable, Iterable
from operator import index
from typing import Any, NoReturn, TypeVar

import numpy as np

from . import _heddle
from ._errors import UsageError

_Shown = TypeVar("_Shown", bound=Callable[..., Any])
_keyword = inspect.Parameter.KEYWORD_ONLY
_plain = bool, int, float, str

table: list[dict[str, Any]] = json.loads(_heddle.settings_table())


def _default(row: dict[str, Any]) -> Any:
    """The default as a value of Python; None if it is in words."""
    text, kind = row["default"], row["kind"]
    if kind == "yes_or_no":
        return text == "true"
    if kind in ("number", "whole_number"):
        try:
            return float(text) if kind == "number" else int(text)
        except ValueError:
            return None
    return None if kind == "numbers" or " " in text else text or None


for _row in table:
    _row["shown"] = _default(_row)
    # A text equal to the default may be requested explicitly where a profile has another.
    _row["dropped"] = None if _row["kind"] == "text" else _row["shown"]


class Taken:
    """The settings that a call takes: those of some uses, except ``but``."""

    def __init__(self, call: str, *uses: str, but: Iterable[str] = ()) -> None:
        self.call = call
        self._rows = {row["name"]: row for row in table
                      if row["use"] in uses and row["name"] not in but}  # fmt: skip
        self._twins = {row["alias"]: name for name, row in self._rows.items() if "alias" in row}
        self._spelled = {**self._rows, **{a: self._rows[name] for a, name in self._twins.items()}}
        self._passed: set[str] = set()  # other keywords of the function being shown
        self._known = set(self._spelled)  # names that a misspelt one may mean

    def check_names(self, given: dict[str, Any]) -> None:
        """Raises ``UsageError`` for a name that the call does not take."""
        for name in given:
            if name not in self._spelled and name not in self._passed:
                self._refuse(name)

    def texts(self, given: dict[str, Any]) -> dict[str, str]:
        """The texts that the library takes, by the caller's names, without those equal to a
        default. Raises ``UsageError`` like ``check_names``; the library refuses values."""
        texts = {}
        for name, value in given.items():
            row = self._spelled.get(name)
            if row is None:
                self._refuse(name)
            plain = value.lower() if isinstance(value, str) else value
            if value is None or (type(value) in _plain and plain == row["dropped"]):
                continue
            text = _text(name, value, row)
            if text is not None:
                texts[name] = text
        for alias, name in self._twins.items() if len(texts) > 1 else ():
            if alias in texts and name in texts:
                raise UsageError(f"{alias} and {name} are one setting: give one of them")
        return texts

    def by_use(self, texts: dict[str, str]) -> dict[str, dict[str, str]]:
        parts: dict[str, dict[str, str]] = {}
        for name, text in texts.items():
            parts.setdefault(self._spelled[name]["use"], {})[name] = text
        return parts

    def for_method(self, method: str, texts: dict[str, str]) -> dict[str, str]:
        """The settings that the method takes."""
        return {name: text for name, text in texts.items()
                if method in self._spelled[name].get("taken_by", (method,))}  # fmt: skip

    def _refuse(self, name: str) -> NoReturn:
        rows = [row for row in table if name in (row["name"], row.get("alias"))]
        for row in rows:
            if row.get("alias") in self._passed - {name}:
                raise UsageError(f"{self.call} has {name} as {row['alias']}, like SciPy")
        uses = [row["use"] for row in rows]
        if uses:
            of = " and ".join(use.replace("_", " ") for use in uses)
            raise UsageError(f"{self.call} does not take {name}, which is a setting of {of}")
        import difflib  # importing it is slow

        near = difflib.get_close_matches(name, self._known, 1)
        if near:
            raise UsageError(f"there is no setting {name!r}; did you mean {near[0]}?")
        _heddle.Settings({name: "1"})  # raises with the nearest name of all settings
        raise UsageError(f"there is no setting {name!r}")

    def shown(self, function: _Shown, passes: Callable[..., Any] | None = None) -> _Shown:
        """Shows the settings in the signature in place of ``**settings``, and in the docstring in
        place of the line ``{settings}``. ``passes``: the function to which ``function`` passes them
        on, and whose keywords are shown too."""
        target: Any = vars(function)["__init__"] if isinstance(function, type) else function
        signature = inspect.signature(target)
        *own, rest = signature.parameters.values()
        more = inspect.signature(passes).parameters.values() if passes else ()
        own += [one for one in more if one.kind is _keyword and one.name not in self._spelled]
        self._passed = {one.name for one in own}
        self._known |= self._passed
        rows = [row for row in self._rows.values()
                if not self._passed & {row["name"], row.get("alias")}]  # fmt: skip
        shown = [inspect.Parameter(row["name"], _keyword, default=row["shown"]) for row in rows]
        target.__signature__ = signature.replace(parameters=[*own, *shown, rest])
        before, line, after = (function.__doc__ or "").partition("{settings}\n")
        if line:
            indent = before[before.rindex("\n") + 1 :]
            words = f"\n{indent}".join(line for row in rows for line in _words(row))
            function.__doc__ = f"{before}{words}\n{after}"
        return function


def _text(name: str, value: Any, row: dict[str, Any]) -> str | None:
    """The value as a text; None for an empty list of numbers, which counts as no value."""
    if type(value) in (int, float):
        return repr(value)
    kind = row["kind"]
    try:
        if isinstance(value, str):
            if kind not in ("number", "whole_number", "yes_or_no"):
                return value
        elif isinstance(value, (bool, np.bool_)):
            return "true" if value else "false"
        elif kind == "numbers" and hasattr(value, "__iter__"):
            return " ".join(map(_number, value)) or None
        else:
            return _number(value)
    except (TypeError, ValueError):
        pass
    raise UsageError(f"{name} must be {row['values']}, not {reprlib.repr(value)}")


def _number(value: Any) -> str:
    try:
        return str(index(value))
    except TypeError:
        return repr(float(value))


def _words(row: dict[str, Any]) -> list[str]:
    """Lines of a docstring. The module textwrap would take as long as all the rest here."""
    default = f"; default: {row['default']}" if row["default"] else ""
    lines = [", ".join(filter(None, (row["name"], row.get("alias")))), "   "]
    for word in f"{row['help']} ({row['values']}{default})".split():
        if len(lines[-1]) + len(word) > 90:
            lines.append("   ")
        lines[-1] += " " + word
    return lines
