"""`config.yaml` of a profile: read, settings, edit."""
