"""`Code`: what a code of a refusal or a failure means."""

from typing import NamedTuple


class Code(NamedTuple):
    """One stable code: added when needed, never renamed."""

    name: str
    outcome: str
    """What an operation comes to that ends with this code alone."""
    meaning: str
    because: str
    """The short reason for a reader who does not program: `{it}` is the plugin, `{package}` the package."""
    what_now: str
    when: str
    """What has to change before a second try can end otherwise."""
