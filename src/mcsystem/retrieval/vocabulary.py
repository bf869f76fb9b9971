"""Numbers for features, in many small dictionaries so that growing never stops the other threads for long."""

from collections.abc import Iterable
from typing import Final

_SHARDS: Final = 64


class Vocabulary:
    """Feature -> id, ids counting up from 0 in the order of first appearance; grows only while an index is built."""

    __slots__ = ("_shards", "features")

    def __init__(self) -> None:
        self._shards: list[dict[str, int]] = [{} for _ in range(_SHARDS)]
        self.features: list[str] = []

    def __len__(self) -> int:
        return len(self.features)

    def number(self, features: Iterable[str]) -> dict[str, int]:
        """The ids of different features, new ones added."""
        shards, known = self._shards, self.features
        numbered: dict[str, int] = {}
        for feature in features:
            shard = shards[hash(feature) % _SHARDS]
            place = shard.get(feature)
            if place is None:
                place = shard[feature] = len(known)
                known.append(feature)
            numbered[feature] = place
        return numbered

    def find(self, feature: str) -> int:
        """The id of a feature, or -1."""
        return self._shards[hash(feature) % _SHARDS].get(feature, -1)
