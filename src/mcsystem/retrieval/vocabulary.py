"""Numbers for features, in many small dictionaries so that growing never stops the other threads for long."""

from typing import Final

_SHARDS: Final = 64
_RECENT: Final = 1 << 15


class Vocabulary:
    """Feature -> id, ids counting up from 0 in the order of first appearance; grows only while an index is built."""

    __slots__ = ("_shards", "features")

    def __init__(self) -> None:
        self._shards: list[dict[str, int]] = [{} for _ in range(_SHARDS)]
        self.features: list[str] = []

    def __len__(self) -> int:
        return len(self.features)

    def add(self, feature: str) -> int:
        """The id of a feature, a new one when it was not known."""
        shard = self._shards[hash(feature) % _SHARDS]
        number = shard.get(feature)
        if number is None:
            number = shard[feature] = len(self.features)
            self.features.append(feature)
        return number

    def find(self, feature: str) -> int:
        """The id of a feature, or -1."""
        return self._shards[hash(feature) % _SHARDS].get(feature, -1)


class Recent(dict[str, int]):
    """The ids of features met lately, filled from a vocabulary: one dictionary look-up for most features."""

    __slots__ = ("_vocabulary",)

    def __init__(self, vocabulary: Vocabulary) -> None:
        super().__init__()
        self._vocabulary = vocabulary

    def __missing__(self, feature: str) -> int:
        number = self[feature] = self._vocabulary.add(feature)
        return number

    def shrink(self) -> None:
        """Forget everything when it has grown so large that growing on would take long."""
        if len(self) > _RECENT:
            self.clear()
