"""The engine: one request from its text to its card, within its budget. Start reading in `assistant`."""
