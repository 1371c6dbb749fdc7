"""The author's checks, from files only."""
