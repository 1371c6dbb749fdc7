"""Tell what happened and why: the receipt as a value, as JSON, on disk and as text."""

from pm.receipts.build import build
from pm.receipts.receipt import Done, Operation, Receipt, begin, from_json, to_json

__all__ = ["Done", "Operation", "Receipt", "begin", "build", "from_json", "to_json"]
