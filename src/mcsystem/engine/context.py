"""What a tool is given: this request's player, databases and knowledge, and nobody else's."""

from collections.abc import Callable
from dataclasses import dataclass

from mcsystem.engine.admin import Admin
from mcsystem.engine.players import OwnData
from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.ids import Origin, Player, Proof
from mcsystem.knowledge import Knowledge, Viewer
from mcsystem.settings import Settings
from mcsystem.storage import Database

ADMIN_LEVEL = 2


@dataclass(frozen=True, slots=True)
class ToolContext:
    """Everything a tool may touch in one call.

    Attributes:
        player: who asks, in the host's word.
        language: the language this player reads.
        player_db: this player's own database.
        shared_db: the world's shared database.
        knowledge: search over documents of either.
        settings: as they were when the request began.
        own: this player's preferences and data.
        origin: how the module was chosen.
        proof: whether the host can prove the speaker.
        exported: calls another module's exported tool within the same budget; None when this run may not use it.
    """

    player: Player
    language: str
    player_db: Database
    shared_db: Database
    knowledge: Knowledge
    settings: Settings
    own: OwnData
    origin: Origin
    proof: Proof
    exported: Callable[[str, object], object | None]
    _admin: Admin

    @property
    def viewer(self) -> Viewer:
        """The player as the audience of documents is checked against; a level that nobody proved counts for nothing."""
        level = self.player.permission if self.proof is Proof.PROVEN else 0
        return Viewer(self.player.uuid, self.player.name, level)

    @property
    def admin(self) -> Admin:
        """What only admins may do.

        Errors: PERMISSION_DENIED below permission level 2, or where the host cannot prove the speaker.
        """
        if self.player.permission < ADMIN_LEVEL or self.proof is not Proof.PROVEN:
            raise AssistantError(ErrorCode.PERMISSION_DENIED, level=ADMIN_LEVEL)
        return self._admin
