"""Write docs/settings.md and docs/errors.md from the code and texts; with --check only say whether they are current."""

import re
import sys
from pathlib import Path
from typing import Any, get_args, get_origin

import msgspec

from mcsystem.config import FILES
from mcsystem.errors import ErrorCode
from mcsystem.resources import packaged_texts

DOCS = Path(__file__).parent.parent / "docs"
ATTRIBUTE = re.compile(r"^ {8}(\w+): (.*(?:\n {12}.*)*)", re.MULTILINE)


def settings() -> str:
    """One table a struct: key, default, meaning."""
    lines = [
        "# Settings",
        "",
        "Files lie in `config/system`. A missing file is written with these defaults; an existing one is never",
        "overwritten. A wrong value is named with file and field, and the last good one stays in force.",
        "The model connection, texts and prompts reload live (`/system reload`); limits and policies at a restart.",
    ]
    for name, kind in FILES.items():
        lines += ["", f"## {name}"]
        lines += tables(kind, "")
    return "\n".join(lines) + "\n"


def tables(kind: Any, path: str) -> list[str]:
    """The table of one struct and of those inside it."""
    rows: list[str] = []
    inner: list[str] = []
    meanings = {name: " ".join(text.split()) for name, text in ATTRIBUTE.findall(kind.__doc__ or "")}
    for field in msgspec.structs.fields(kind):
        below = f"{path}{field.encode_name}."
        if isinstance(field.type, type) and issubclass(field.type, msgspec.Struct):
            inner += tables(field.type, below)
        elif get_origin(field.type) is dict:
            inner += tables(get_args(field.type)[1], f"{path}{field.encode_name}.WORKFLOW.")
        else:
            default = msgspec.json.encode(field.default).decode()
            rows.append(f"| `{field.encode_name}` | `{default}` | {meanings.get(field.name, '')} |")
    head = " ".join((kind.__doc__ or "").split("\n\n")[0].split())
    table = ["", f"### {path.rstrip('.') or 'top level'}", "", head] if rows else []
    if rows:
        table += ["", "| key | default | meaning |", "| --- | --- | --- |", *rows]
    return table + inner


def errors() -> str:
    """Every code with its sentence in both languages."""
    texts = packaged_texts()
    lines = ["# Error codes", "", "Codes never change their meaning. `${...}` are details filled in at run time.", ""]
    lines += ["| code | English | 中文 |", "| --- | --- | --- |"]
    for code in ErrorCode:
        english, chinese = (texts[language].get(f"error.{code.value}", "") for language in ("en_us", "zh_cn"))
        lines.append(f"| `{code.value}` | {english} | {chinese} |".replace("\n", " "))
    return "\n".join(lines) + "\n"


def main() -> int:
    """Write or check both files; the exit code says whether they were current."""
    stale = 0
    for name, text in (("settings.md", settings()), ("errors.md", errors())):
        path = DOCS / name
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        stale = 1
        if "--check" not in sys.argv:
            path.write_text(text, encoding="utf-8")
        sys.stdout.write(f"{path.name} {'is stale' if '--check' in sys.argv else 'written'}\n")
    return stale if "--check" in sys.argv else 0


if __name__ == "__main__":
    raise SystemExit(main())
