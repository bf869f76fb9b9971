"""What admins may do from inside the game: reload, look at traces, manage knowledge."""

from dataclasses import dataclass

from mcsystem.config import Config, Problem
from mcsystem.engine.trace import Trace, Traces
from mcsystem.knowledge import KNOWLEDGE, Audience, Document, Found, Knowledge
from mcsystem.knowledge_import import ImportReport, reload_imports
from mcsystem.storage import Databases

IN_GAME = "in-game"


@dataclass(frozen=True, slots=True)
class Admin:
    """The admin's side of a running assistant; every method may block, so it belongs on workers."""

    config: Config
    databases: Databases
    knowledge: Knowledge
    traces: Traces

    def reload_config(self) -> tuple[Problem, ...]:
        """Read the config folder again; what is wrong keeps its last good value and is returned."""
        return self.config.load()

    def reload_knowledge(self) -> list[ImportReport]:
        """Import every folder again that was imported into the shared knowledge before.

        Errors: STORAGE_*, KNOWLEDGE_*.
        """
        return reload_imports(self.databases.shared())

    def documents(self, language: str) -> list[Document]:
        """The shared documents of one language."""
        return list(KNOWLEDGE.list(self.databases.shared(), language))

    def languages(self) -> tuple[str, ...]:
        """The languages that have shared documents."""
        return tuple(KNOWLEDGE.languages(self.databases.shared()))

    def search(self, language: str, query: str) -> list[Found]:
        """What a search finds with scores, audiences not considered."""
        return self.knowledge.search(self.databases.shared(), KNOWLEDGE, language, query)

    def add_note(self, language: str, title: str, text: str) -> str:
        """Add or replace a shared document written in the game; returns its path.

        Errors: STORAGE_*.
        """
        name = "".join(letter if letter.isalnum() else "-" for letter in title.casefold())[:60].strip("-") or "note"
        path = f"{name}.md"
        KNOWLEDGE.put(
            self.databases.shared(),
            Document(
                path=path, language=language, title=title, text=text, audience=Audience.everyone(), collection=IN_GAME
            ),
        )
        return path

    def trace(self, number: int | None) -> Trace | None:
        """The trace of a request, the newest without a number."""
        return self.traces.find(number)
