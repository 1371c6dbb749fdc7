"""Find hooks that a manifest lists and no host calls, or nothing in the plugin's source defines."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from admission import Problem
from pm.documents.nodes import ListNode, MappingNode, ScalarNode, given
from pm.lint.python_files import PythonFile, imported_names, last_name, subclasses
from pm.names import shown

LISTS = ("hooks", "provides_hooks")
"""Keys of a manifest that list hooks; newer manifests use the second."""

HOST_HOOKS = frozenset(
    {
        "api_request_error", "kanban_task_blocked", "kanban_task_claimed", "kanban_task_completed", "on_session_end",
        "on_session_finalize", "on_session_reset", "on_session_start", "post_api_request", "post_approval_response",
        "post_llm_call", "post_tool_call", "pre_api_request", "pre_approval_request", "pre_gateway_dispatch",
        "pre_llm_call", "pre_tool_call", "pre_verify", "subagent_start", "subagent_stop", "transform_llm_output",
        "transform_terminal_output", "transform_tool_result",
        "agent_loop_stopped", "gateway_platform_event", "on_interim_message", "on_kanban_dispatch_tick",
        "on_kanban_task_updated", "on_kanban_worker_exited", "on_kanban_worker_spawned", "on_kanban_worker_stale_claim",
        "on_room_member_activity", "on_skill_lifecycle", "on_stream_delta", "on_stream_end", "on_stream_start",
        "pre_command", "pre_transcription", "transform_api_error_classification",
    }
)  # fmt: skip
"""What a host calls after `register_hook`: first the 23 of `hermes-agent` 0.19.0 (`VALID_HOOKS` of its module
`hermes_cli.plugins`), then what newer sources of the host add to them."""

PROVIDER_HOOKS = frozenset(
    {
        "initialize", "on_delegation", "on_memory_write", "on_pre_compress", "on_session_end", "on_session_switch",
        "on_turn_start", "prefetch", "queue_prefetch", "shutdown", "sync_turn", "system_prompt_block",
    }
)  # fmt: skip
"""What a host calls on a memory provider: members of `agent.memory_provider.MemoryProvider`, some of which published
manifests list as hooks."""

KNOWN = HOST_HOOKS | PROVIDER_HOOKS


def hook_findings(manifest: MappingNode, file: str, source: PythonFile, loaded: Sequence[str]) -> Iterator[Problem]:
    """Yield what is wrong with the hooks that a manifest lists.

    `loaded` are the files that the host loads. Where hooks may come from another package, or under a name that is put
    together at run time, nothing is said of hooks that are not defined.
    """
    listed = list(_listed(manifest))
    yield from (_unknown(hook, key, file) for hook, key in listed if hook.text not in KNOWN)
    known = [(hook, key) for hook, key in listed if hook.text in KNOWN]
    if not known or not loaded or source.unread or _comes_from_elsewhere(source, loaded):
        return
    written = _written(source.trees.values())
    is_provider = bool(subclasses(source.trees.values(), "MemoryProvider"))
    for hook, key in known:
        if hook.text not in written:
            yield _undefined(hook, key, file, is_method=is_provider and hook.text in PROVIDER_HOOKS)


def _listed(manifest: MappingNode) -> Iterator[tuple[ScalarNode, str]]:
    for key in LISTS:
        node = given(manifest, key)
        for position, item in enumerate(node.items if isinstance(node, ListNode) else ()):
            name = item.get("name") if isinstance(item, MappingNode) else item
            if isinstance(name, ScalarNode) and name.kind == "text":
                yield name, f"{key}[{position}]"


def _unknown(hook: ScalarNode, key: str, file: str) -> Problem:
    from difflib import get_close_matches  # nearly all hooks are known

    near = get_close_matches(hook.text, sorted(KNOWN), n=1, cutoff=0.6)
    hint = f"did you mean `{near[0]}`?" if near else "take it out, or name the host that calls it in `requires_hermes`"
    message = f"{shown(hook.text)} is not a hook that any known host calls"
    return Problem("hook-unknown", message, file, hook.line, hook.column, key, hint)


def _undefined(hook: ScalarNode, key: str, file: str, *, is_method: bool) -> Problem:
    message = f"{shown(hook.text)} is listed, and nothing in the source registers or defines it"
    registering = f'`ctx.register_hook("{hook.text}", …)` in `register`'
    defining = f"`def {hook.text}(self, …)` in the memory provider"
    hint = f"take it out, or write {defining if is_method else registering}"
    return Problem("hook-undefined", message, file, hook.line, hook.column, key, hint)


def _written(trees: Iterable[ast.Module]) -> set[str]:
    """Return every name and every text of a source that could be a hook: definitions, attributes, constants."""
    found: set[str] = set()
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                found.add(node.name)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.add(node.value)
            elif isinstance(node, ast.Name):
                found.add(node.id)
            elif isinstance(node, ast.Attribute):
                found.add(node.attr)
            elif isinstance(node, ast.keyword) and node.arg:
                found.add(node.arg)
    return found


def _comes_from_elsewhere(source: PythonFile, loaded: Iterable[str]) -> bool:
    return any(_cannot_be_told(source, source.trees[file]) for file in loaded if file in source.trees)


def _cannot_be_told(source: PythonFile, tree: ast.Module) -> bool:
    """Say whether a file takes its `register` or a base class from another package, or computes the names of hooks."""
    foreign = {name for name, module in imported_names(tree).items() if source.is_foreign(module)} - _HARMLESS_BASES
    if foreign & {"register", "*"}:
        return True
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and any(_root_name(base) in foreign for base in node.bases):
            return True
        if isinstance(node, ast.Call) and last_name(node.func) == "register_hook" and _is_computed(node):
            return True
    return False


_HARMLESS_BASES = frozenset({"MemoryProvider"})
"""Base classes of the host that define no hook by themselves."""


def _root_name(base: ast.expr) -> str:
    while isinstance(base, ast.Attribute | ast.Subscript):
        if isinstance(base, ast.Attribute) and base.attr in _HARMLESS_BASES:
            return ""
        base = base.value
    return base.id if isinstance(base, ast.Name) else ""


def _is_computed(call: ast.Call) -> bool:
    named = [*call.args[:1], *(keyword.value for keyword in call.keywords if keyword.arg != "callback")]
    return not any(isinstance(value, ast.Constant) for value in named[:1])
