"""What a decision is about, asked until the facts suffice."""
