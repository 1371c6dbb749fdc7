"""Environments: built, selected, kept, compared, deleted."""
