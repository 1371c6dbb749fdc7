"""Start the host in its generation."""
