"""Numbers for features, in many small dictionaries so that growing never stops the other threads for long."""

from typing import Final

_SHARDS: Final = 64
_RECENT: Final = 1 << 15


class Vocabulary:
    """Feature -> id, ids counting up from 0 in the order of first appearance.

    Attributes:
        features: the features by id.
        shards: the ids, each feature in the dictionary that its hash names.
    """

    __slots__ = ("features", "shards")

    def __init__(self) -> None:
        self.features: list[str] = []
        self.shards: tuple[dict[str, int], ...] = tuple({} for _ in range(_SHARDS))

    def __len__(self) -> int:
        return len(self.features)

    def find(self, feature: str) -> int:
        """The id of a feature, or -1."""
        return self.shards[hash(feature) % _SHARDS].get(feature, -1)


class Numbering(dict[str, int]):
    """The ids of features met lately while an index is built; others are looked up in or added to a vocabulary."""

    __slots__ = ("_vocabulary",)

    def __init__(self, vocabulary: Vocabulary) -> None:
        super().__init__()
        self._vocabulary = vocabulary

    def __missing__(self, feature: str) -> int:
        features = self._vocabulary.features
        shard = self._vocabulary.shards[hash(feature) % _SHARDS]
        number = self[feature] = shard.setdefault(feature, len(features))
        if number == len(features):
            features.append(feature)
        return number

    def shrink(self) -> None:
        """Forget everything when it has grown so large that growing on would take long."""
        if len(self) > _RECENT:
            self.clear()
