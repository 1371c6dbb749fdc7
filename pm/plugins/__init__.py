"""Plugin folders: found, staged, read into declarations."""
