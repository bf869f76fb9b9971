"""Pure functions from a card to what a host shows; all escaping happens here, and every text is only text."""
