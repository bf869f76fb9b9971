"""A card as plain text, for pipes, logs and screens without colour."""

from mcsystem.cards import Card
from mcsystem.render.rows import View, card_rows


def plain(card: Card, view: View) -> str:
    """The card's rows, without a line break at the end; empty for an empty card."""
    return "\n".join(row.text.rstrip() for row in card_rows(card, view))
