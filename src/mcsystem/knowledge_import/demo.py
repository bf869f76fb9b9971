"""The embedded demo world: the knowledge of a small invented server, in English and Chinese."""

from importlib.resources import as_file, files
from typing import Final

from mcsystem.knowledge_import.importing import Told, import_folder
from mcsystem.knowledge_import.report import ImportReport
from mcsystem.storage import Database

DEMO_LANGUAGES: Final = ("en_us", "zh_cn")


def import_demo(database: Database, *, progress: Told | None = None) -> list[ImportReport]:
    """Bring the demo world's knowledge up to date; one report a language. A second call writes nothing.

    Errors: STORAGE_*.
    """
    reports: list[ImportReport] = []
    for language in DEMO_LANGUAGES:
        with as_file(files("mcsystem").joinpath("data", "demo", language)) as folder:
            collection = f"demo-{language}"
            reports.append(
                import_folder(
                    database, folder, language=language, collection=collection, progress=progress, remember=False
                )
            )
    return reports
