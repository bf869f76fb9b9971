"""Looks a question's units up among the allowed passages: frequencies, ranking factors, mended typing slips."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from mcsystem.retrieval.analysis import UNIT
from mcsystem.retrieval.evidence import Sought, evidence_weight, inverse_frequency
from mcsystem.retrieval.postings import Lists, PostingList
from mcsystem.retrieval.question import Role, Unit, word_unit
from mcsystem.retrieval.ranking import Weighted
from mcsystem.retrieval.spelling import Spellings
from mcsystem.retrieval.vocabulary import Vocabulary

_STEPS: Final = 4_096  # factors are whole multiples of 1/4096 of a weight's unit, see Weighted
_MENDED: Final = 8  # so many unknown words of a question are looked up as typing slips


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as the allowed passages know it.

    Attributes:
        sought: the units, for the evidence.
        weighted: the posting lists to rank by; none empty.
        most: the best score that any passage could reach.
    """

    sought: tuple[Sought, ...]
    weighted: tuple[Weighted, ...]
    most: float


def look_up(units: Sequence[Unit], lists: Lists, vocabulary: Vocabulary, spellings: Spellings) -> Asked:
    """Look up every unit; whatever only other passages know is unknown.

    Args:
        units: from `read_question`.
        lists: the allowed passages.
        vocabulary: feature numbers of the whole index; they are only names here.
        spellings: words of the whole index; those of no allowed passage are passed over.
    """
    sought: list[Sought] = []
    factors: dict[int, float] = {}
    postings: dict[int, PostingList] = {}
    most, mendable = 0.0, _MENDED
    for unit in units:
        read, credit = unit, 1.0
        body = vocabulary.find(unit.body) if unit.body else -1
        known = lists.read(body)
        if unit.role is Role.WORD and not len(known.documents) and mendable:
            mendable -= 1
            read, credit = _mend(unit, lists, spellings)
            body = vocabulary.find(read.body)
            known = lists.read(body)
        features = [(body, known, credit * unit.count)] if unit.body else []
        titles = tuple((vocabulary.find(feature), weight) for feature, weight in read.titles)
        features += [(term, lists.read(term), weight * credit * unit.count) for term, weight in titles]
        for term, found, weight in features:
            factor = round(_STEPS * weight * inverse_frequency(lists.size, len(found.documents))) / _STEPS / UNIT
            most += factor * UNIT
            if len(found.documents) and factor > 0:
                factors[term] = factors.get(term, 0.0) + factor
                postings[term] = found
        weight = evidence_weight(unit, lists.size, len(known.documents))
        sought.append(Sought(read, unit.text, body, tuple(term for term, _ in titles), weight, credit))
    weighted = tuple(Weighted(postings[term], factor) for term, factor in factors.items())
    return Asked(tuple(sought), weighted, most)


def _mend(unit: Unit, lists: Lists, spellings: Spellings) -> tuple[Unit, float]:
    """The known word with the fewest slips, then the most trusted, then the most frequent; else the unit itself."""
    for slips in (1, 2):
        near = [(entry, len(lists.read(entry.term).documents)) for entry in spellings.near(unit.text, slips)]
        allowed = [(entry, frequency) for entry, frequency in near if frequency]
        if allowed:
            chosen, _ = min(allowed, key=lambda pair: (-pair[0].credit, -pair[1], pair[0].word))
            return word_unit(chosen.word, count=unit.count), chosen.credit
    return unit, 1.0
