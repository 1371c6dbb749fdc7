"""The embedded core's command and configuration, under the names that published plugins import."""
