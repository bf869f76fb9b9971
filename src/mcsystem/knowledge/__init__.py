"""Where storage and retrieval meet: documents with a language and an audience, and the search over them."""

from mcsystem.knowledge.audience import Audience, AudienceReading, Viewer, read_audience
from mcsystem.knowledge.documents import Document, shown_path, split_key
from mcsystem.knowledge.passages import count_passages
from mcsystem.knowledge.search import Found, Knowledge
from mcsystem.knowledge.table import FTB_GUIDES, KNOWLEDGE, QUEST_BACKGROUNDS, DocumentRow, DocumentTable, row_of, sound

__all__ = [
    "FTB_GUIDES",
    "KNOWLEDGE",
    "QUEST_BACKGROUNDS",
    "Audience",
    "AudienceReading",
    "Document",
    "DocumentRow",
    "DocumentTable",
    "Found",
    "Knowledge",
    "Viewer",
    "count_passages",
    "read_audience",
    "row_of",
    "shown_path",
    "sound",
    "split_key",
]
