"""Where plugins come from: what a word means, and how each kind of source is fetched, staged and verified."""
