"""The rules of the house that no linter knows: sizes, doors, names, the public surface."""

import ast
import re
from pathlib import Path

import pytest

import mcsystem.api
from mcsystem.modules import admin, preferences, question
from mcsystem.modules import help as help_module

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "mcsystem"
CODE = sorted(path for folder in ("src", "tests", "examples", "benchmarks") for path in (ROOT / folder).rglob("*.py"))
OURS = sorted(SOURCE.rglob("*.py"))

# Which folders may import what is dangerous; everything else goes through them.
DOORS = {
    "socket": ("gateways", "hosts", "doctor.py"),
    "httpx2": ("gateways",),
    "subprocess": ("hosts",),
    "requests": (),
    "urllib.request": (),
    "http.client": (),
    "pickle": (),
    "ctypes": ("storage",),
}
FORBIDDEN_NAMES = {"utils", "helpers", "manager", "common", "core", "misc"}
PATHS = re.compile(r"(?<![\w.])/(?:work|root|home/\w+)/")


def imports(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return names


def below(path: Path, doors: tuple[str, ...]) -> bool:
    return path.relative_to(SOURCE).parts[0] in doors


def test_files_and_functions_stay_small() -> None:
    """Files have at most 400 lines, functions at most 40."""
    for path in CODE:
        text = path.read_text(encoding="utf-8")
        assert text.count("\n") <= 400, path
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                assert (node.end_lineno or 0) - node.lineno <= 40, f"{path}:{node.name}"


def test_names_are_nouns_of_the_field() -> None:
    """No file is named after nothing in particular, and each says in its first line what it is for."""
    for path in OURS:
        assert path.stem not in FORBIDDEN_NAMES, path
        assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))), path


@pytest.mark.parametrize("library", list(DOORS))
def test_dangerous_imports_have_named_doors(library: str) -> None:
    """Sockets, HTTP, subprocesses and the like are imported by the layers that own them alone."""
    for path in OURS:
        if any(name == library or name.startswith(f"{library}.") for name in imports(path)):
            assert below(path, DOORS[library]), f"{path} imports {library}"


def test_no_import_hides_inside_a_function() -> None:
    """The import graph that one sees is the one there is."""
    for path in OURS:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                for inner in ast.walk(node):
                    assert not isinstance(inner, ast.Import | ast.ImportFrom), f"{path}:{node.name}"


def test_the_engine_knows_no_feature() -> None:
    """No module's ID stands in the engine; what it does for one it does for all."""
    for path in (SOURCE / "engine").glob("*.py"):
        for name in re.findall(r'"(system:[a-z_]+)"', path.read_text(encoding="utf-8")):
            assert name == "system:preferences", f"{path}: {name}"  # the table of preferences is the engine's own


def test_the_public_surface_is_the_list() -> None:
    """What an extension may import is exactly the list, and each name of it exists."""
    public = {name for name in vars(mcsystem.api) if not name.startswith("_")}
    assert public == set(mcsystem.api.__all__)


def test_builtin_modules_see_the_public_api_only() -> None:
    """A built-in module obeys the rule of every extension."""
    for path in (SOURCE / "modules").rglob("*.py"):
        for name in imports(path):
            if name.startswith("mcsystem"):
                assert name == "mcsystem.api" or name.startswith("mcsystem.modules"), f"{path} imports {name}"


def test_every_builtin_module_registers_itself() -> None:
    """Each built-in module is one `setup(registry)`."""
    assert all(callable(module.setup) for module in (admin, help_module, preferences, question))


def test_nothing_of_a_machine_is_written_down() -> None:
    """No file of the repository names a path of somebody's machine."""
    texts = [*CODE, *ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "Makefile"]
    for path in texts:
        if path.name != "test_house.py":
            assert not PATHS.search(path.read_text(encoding="utf-8")), path
