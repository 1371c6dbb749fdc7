"""PREPARES: everything that touches the world. Reads plugins, asks indexes, builds generations, writes receipts."""

__version__ = "0.1.0"
