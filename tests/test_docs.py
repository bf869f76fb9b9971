"""Docs are checked: generated pages are current, links lead somewhere, the code that is shown runs."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "benchmarks").glob("*.md")])
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def test_generated_pages_are_current() -> None:
    """docs/settings.md and docs/errors.md say what the code says; `python .ci/generate_docs.py` writes them."""
    done = subprocess.run(
        [sys.executable, str(ROOT / ".ci" / "generate_docs.py"), "--check"],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    """Every relative link of a page is a file of the repository."""
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_test_shown_to_extension_authors_passes(tmp_path: Path) -> None:
    """The code in docs/write-a-module.md runs as it stands, beside a copy of the example."""
    page = (ROOT / "docs" / "write-a-module.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (tmp_path / "test_shown.py").write_text(code, encoding="utf-8")
    (tmp_path / "waypoints.py").write_text((ROOT / "examples" / "waypoints.py").read_text("utf-8"), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout


def test_each_dependency_has_its_reason() -> None:
    """Every dependency of the default install stands in docs/dependencies.md."""
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    block = project.split("dependencies = [", 1)[1].split("]", 1)[0]
    page = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    for name in re.findall(r'"([A-Za-z0-9_-]+)', block):
        assert f"| {name} |" in page, name
