"""System: an in-game assistant for Minecraft servers that answers from the server's own knowledge first."""

__version__ = "0.1.0"
