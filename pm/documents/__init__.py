"""YAML, JSON and TOML with the place of every key."""
