"""The example in Julia, which most machines cannot run: its calls and structs are those of heddle.h."""

import pathlib
import re

root = pathlib.Path(__file__).parents[2]
source = (root / "examples/julia/quick_start.jl").read_text()
header = " ".join(path.read_text() for path in (root / "include").glob("heddle*.h"))
sizes = {"Csize_t": 8, "Int64": 8, "Cdouble": 8, "Ptr": 8, "Cint": 4, "Int32": 4}
c_types = {"Csize_t": "size_t", "Int64": "int64_t", "Cint": "int", "Cvoid": "void"}


def test_structs_have_the_layout_of_c():
    layouts = (root / "bindings/c/layouts.txt").read_text()
    for name, of_c in (("View", "heddle_view"), ("Report", "heddle_report")):
        body = re.search(rf"struct {name}\n(.*?)\n(?:    {name}\(|end)", source, re.DOTALL)[1]
        at, found = 0, ""
        for member, kind in re.findall(r"(\w+)::(\w+)", body):
            size = sizes[kind]
            at = -(-at // size) * size
            found += f"MEMBER({of_c}, {member}, {at})\n"
            at += size
        expected = "".join(re.findall(rf"MEMBER\({of_c}, .*\n", layouts))
        whole = -(-at // 8) * 8  # a struct ends where the next one in an array may begin
        assert found == expected and f"SIZE({of_c}, {whole})" in layouts


def test_calls_have_the_arguments_of_c():
    calls = re.findall(r"@ccall library\.(\w+)\((.*?)\)::(Cint|Cvoid|Csize_t)", source, re.DOTALL)
    assert len(calls) == source.count("@ccall") > 10
    for name, arguments, returned in calls:
        kinds = re.findall(r"::(\w+)", arguments)
        declared = re.search(rf"HEDDLE_API (\w+) {name}\((.*?)\);", header, re.DOTALL)
        assert declared, name
        of_c = [argument.strip() for argument in declared[2].split(",")]
        assert len(kinds) == len(of_c), name
        for kind, argument in zip(kinds, of_c):
            if "*" in argument:
                assert kind in ("Ptr", "Cstring"), (name, argument)
            else:
                wanted = c_types[kind]
                assert wanted in argument or wanted == "int" and "heddle_" in argument, argument
        assert returned == {"heddle_status": "Cint", "void": "Cvoid", "size_t": "Csize_t"}[declared[1]]
