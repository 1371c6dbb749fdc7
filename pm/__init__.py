"""PREPARES: everything that touches the world. Reads plugins, asks indexes, builds generations, writes receipts."""
