"""Brings folders of Markdown, text, CSV and JSON into the knowledge, and keeps them up to date."""

from mcsystem.knowledge_import.demo import DEMO_LANGUAGES, import_demo
from mcsystem.knowledge_import.importing import (
    ImportedFolder,
    collection_of,
    forget_import,
    import_folder,
    imported_folders,
    reload_imports,
)
from mcsystem.knowledge_import.reading import Given, read_document
from mcsystem.knowledge_import.report import FileProblem, ImportReport, Progress

__all__ = [
    "DEMO_LANGUAGES",
    "FileProblem",
    "Given",
    "ImportReport",
    "ImportedFolder",
    "Progress",
    "collection_of",
    "forget_import",
    "import_demo",
    "import_folder",
    "imported_folders",
    "read_document",
    "reload_imports",
]
