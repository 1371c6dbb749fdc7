"""Find the plugin that an operator's word means."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pm.errors import PmError
from pm.names import canonical_key, leaf, shown
from pm.plugins.discovery import Found


def find_plugin(found: Sequence[Found], word: str) -> Found:
    """Return the plugin with this key, else of this name, else with this last segment of its key.

    Copies that another one hides are not meant. Raise `PmError` (`unknown-plugin`) for none and for several.
    """
    used = [plugin for plugin in found if not plugin.hidden_by]
    wanted = canonical_key(word)
    by_key = [plugin for plugin in used if canonical_key(plugin.key) == wanted]
    by_name = [plugin for plugin in used if wanted in {canonical_key(name) for name in plugin.names}]
    matching = by_key or by_name
    if len(matching) == 1:
        return matching[0]
    if matching:
        keys = ", ".join(f"`{plugin.key}`" for plugin in matching)
        raise PmError(
            "unknown-plugin", f"{shown(word)} is the name of several plugins: {keys}", hint="use the full key"
        )
    near = _near(used, word)
    listed = ", ".join(f"`{key}`" for key in near)
    hint = f"did you mean {listed}?" if near else "`hermes plugins list` shows the names"
    meant = (word, near[0]) if len(near) == 1 else ("", "")
    raise PmError("unknown-plugin", f"there is no plugin {shown(word)}", hint=hint, word=meant)


def _near(found: Iterable[Found], word: str) -> tuple[str, ...]:
    from difflib import get_close_matches

    keys = {canonical_key(name): plugin.key for plugin in found for name in (leaf(plugin.key), plugin.key)}
    near = get_close_matches(canonical_key(word), keys, n=3, cutoff=0.6)
    return tuple(dict.fromkeys(keys[name] for name in near))
