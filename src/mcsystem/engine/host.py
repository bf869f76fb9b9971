"""The seam to whatever shows cards to players: a console, a sidecar, a plugin, a page."""

from typing import Protocol

from mcsystem.cards import Card
from mcsystem.ids import Player


class Host(Protocol):
    """One attached host. Hosts parse, name the player in the server's word, and deliver; they decide nothing."""

    @property
    def name(self) -> str:
        """Shown in the trace, such as `console`."""
        ...

    @property
    def owner_present(self) -> bool:
        """Whether the person at this host set up the model's key themselves: then the key is the consent."""
        ...

    async def deliver(self, player: Player, card: Card) -> None:
        """Show `card` to `player`. Must not raise; a host that lost its server keeps or drops the card by itself."""
        ...
