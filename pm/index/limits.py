"""How long to wait, how often to ask and how far to guess."""

from typing import NamedTuple


class Limits(NamedTuple):
    """The limits of one index client; times in seconds."""

    connect: float = 10.0
    read: float = 20.0
    """Without a byte."""
    total: float = 60.0
    """For a page or a metadata file, with all attempts."""
    transfer: float = 900.0
    """For a whole file: no attempt begins later, and what keeps coming is waited for."""
    attempts: int = 4
    pause: float = 0.25
    """Before the second attempt; doubled before each further one, and up to half as long again by chance."""
    longest_pause: float = 10.0
    """A server that asks to wait longer (`Retry-After`) is given up at once."""
    workers: int = 8
    guesses: int = 500
    """Pages and candidates fetched ahead in one call."""
    guessing: float = 5.0
    """How long to wait for what was only guessed, once everything needed is there."""
