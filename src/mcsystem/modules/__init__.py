"""The built-in modules: each declares its commands, tools and texts, and sees the public API only."""
