"""Ask package indexes and folders of wheels, and keep what they say as facts for one target.

with open_index(cache, target, sources, index_options) as index:
    decision = decide(question, index.facts)
    while True:
        if isinstance(decision, Need):
            index.fetch(decision, question)
        elif not index.refresh():
            break
        decision = decide(question, index.facts)
"""

from pm.index.client import FRESH, IndexClient, IndexOptions, open_index
from pm.index.limits import Limits

__all__ = ["FRESH", "IndexClient", "IndexOptions", "Limits", "open_index"]
