"""Full-text search over passages: cutting, analysing, indexing, ranking, deciding what counts as a match."""

from mcsystem.retrieval.analysis import Analysed, analyse
from mcsystem.retrieval.evidence import Evidence
from mcsystem.retrieval.index import Hit, LexicalIndex, Selection
from mcsystem.retrieval.passages import PASSAGE_SIZE, Passage, cut_passages

__all__ = [
    "PASSAGE_SIZE",
    "Analysed",
    "Evidence",
    "Hit",
    "LexicalIndex",
    "Passage",
    "Selection",
    "analyse",
    "cut_passages",
]
