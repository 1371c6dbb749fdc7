"""Load the plugins that a home enables and that were admitted, and keep what they register.

The names and shapes are those that published plugins and hosts use. A memory provider is found here and not imported:
the code that runs the selected one does that.
"""

import logging
import os
import sys
from collections.abc import Callable, Mapping
from functools import partial
from hashlib import sha256
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from threading import RLock
from types import ModuleType
from typing import NamedTuple, cast

from hermes_cli.config import ConfigUnreadable, load_config
from hermes_cli.plugin_admission import Skipped, admission
from hermes_cli.plugin_guard import Raised, guarded
from hermes_cli.plugin_sources import PluginManifest, enabled_plugins, find_plugins
from hermes_constants import get_hermes_home, hermes_home_key

__all__ = [
    "LoadedPlugin",
    "NotAPlugin",
    "PluginContext",
    "PluginManager",
    "PluginManifest",
    "Skipped",
    "discover_plugins",
    "get_plugin_manager",
    "invoke_hook",
    "iter_hook_callbacks",
]

_PACKAGE = "hermes_plugins"
_log = logging.getLogger(__name__)
# Importing is not done twice at once: a module that is half there would be taken for a whole one.
_importing = RLock()

Callback = Callable[..., object]


class NotAPlugin(ValueError):
    """A folder cannot be loaded as a plugin."""


class LoadedPlugin(NamedTuple):
    """A plugin that was found, and what became of it."""

    manifest: PluginManifest
    enabled: bool = False
    """Whether it was imported and has registered what it offers."""
    error: str | None = None


class _Registration(NamedTuple):
    """What a plugin has registered; the same for every kind, so that it can be taken back."""

    plugin: str
    kind: str
    name: str
    values: Mapping[str, object]
    """By the names of the parameters that it was registered with."""


class PluginManager:
    """The plugins of one home."""

    def __init__(self) -> None:
        self._registered: tuple[_Registration, ...] = ()
        self._plugins: dict[str, LoadedPlugin] = {}
        self._skipped: tuple[Skipped, ...] = ()
        self._discovered = False

    def discover_and_load(self, force: bool = False) -> None:  # noqa: FBT001, FBT002 - hosts call it like this
        """Import what is enabled and admitted, once; with `force` again, from the files as they are now.

        Nothing is found with `HERMES_SAFE_MODE=1`, or where the config cannot be read: then it is not known what is
        enabled. A plugin that cannot be loaded takes back what it registered and leaves the others alone.
        """
        with _importing:
            if self._discovered and not force:
                return
            self._forget()
            self._discovered = True  # already: a plugin may ask for this while it is imported
            try:
                self._discover()
            except BaseException:
                self._forget()  # half of the plugins must not pass for all of them
                raise

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """The plugins that are enabled and were not admitted, sorted by key."""
        return self._skipped

    def registered(self, kind: str) -> dict[str, dict[str, object]]:
        """Return by name what was registered of a kind: `tool`, `command`, `cli_command`, or `skill` as `plugin:name`.

        Each entry names its `plugin`; the others have the names of the parameters that it was registered with.
        """
        return {one.name: {"plugin": one.plugin, **one.values} for one in self._registered if one.kind == kind}

    def list_plugins(self) -> list[dict[str, object]]:
        """Return every plugin that was found, sorted by key, as a program can read it."""
        return [_row(plugin) for _, plugin in sorted(self._plugins.items())]

    def iter_hook_callbacks(self, hook_name: str) -> tuple[Callback, ...]:
        """Return what is called for a hook, in the order of registration."""
        return tuple(callback for _, callback in self._hooks(hook_name))

    def invoke_hook(self, hook_name: str, **kwargs: object) -> list[object]:
        """Call everything that is registered for a hook, and return what is not `None`."""
        answers = []
        for plugin, callback in self._hooks(hook_name):
            answer = guarded(f"`{plugin}`: hook `{hook_name}`", partial(callback, **kwargs))
            if answer is not None and not isinstance(answer, Raised):
                answers.append(answer)
        return answers

    def _hooks(self, name: str) -> list[tuple[str, Callback]]:
        hooks = [one for one in self._registered if (one.kind, one.name) == ("hook", name)]
        return [(hook.plugin, cast("Callback", hook.values["callback"])) for hook in hooks]

    def _keep(self, new: _Registration) -> None:
        """Keep what a plugin registers; among others than hooks the first of a name stays."""
        known = next((old for old in self._registered if (old.kind, old.name) == (new.kind, new.name)), new)
        if known is new or new.kind == "hook":
            self._registered += (new,)
        else:
            _log.warning(
                "`%s`: the %s `%s` is already registered by `%s`", new.plugin, new.kind, new.name, known.plugin
            )

    def _discover(self) -> None:
        if os.environ.get("HERMES_SAFE_MODE", "").strip().lower() in {"1", "true", "yes", "on"}:
            return
        try:
            config = load_config()
        except ConfigUnreadable as error:
            _log.warning("no plugin is imported: %s", error)
            return
        self._load_all(find_plugins(get_hermes_home()), config)

    def _load_all(self, found: tuple[PluginManifest, ...], config: Mapping[str, object]) -> None:
        admitted = admission(get_hermes_home())
        enabled = enabled_plugins(config, found)
        refusals = {plugin: refusal for plugin in enabled if (refusal := admitted.refusal(plugin))}
        for refusal in refusals.values():
            _log.warning(
                "plugin_not_admitted: `%s` is enabled and not imported: %s; %s",
                refusal.key, refusal.message, refusal.step,
            )  # fmt: skip
        self._skipped = tuple(refusals.values())
        for plugin in found:
            if plugin in refusals:
                self._plugins[plugin.key] = LoadedPlugin(plugin, error=f"not-admitted: {refusals[plugin].message}")
            elif plugin in enabled and plugin.kind != "exclusive":
                self._plugins[plugin.key] = self._load(plugin)
            else:
                self._plugins[plugin.key] = LoadedPlugin(plugin)

    def _load(self, manifest: PluginManifest) -> LoadedPlugin:
        context = PluginContext(manifest, self._keep)
        raised = guarded(f"`{manifest.key}` is not loaded", partial(_register, manifest, context))
        if raised is None:
            return LoadedPlugin(manifest, enabled=True)
        self._registered = tuple(one for one in self._registered if one.plugin != manifest.key)
        return LoadedPlugin(manifest, error=raised.error)

    def _forget(self) -> None:
        for plugin in self._plugins.values():
            _drop_module(_module_name(plugin.manifest))
        self._registered, self._plugins, self._skipped, self._discovered = (), {}, (), False


def _row(plugin: LoadedPlugin) -> dict[str, object]:
    described = {name: getattr(plugin.manifest, name) for name in _SHOWN}
    return {**described, "enabled": plugin.enabled, "error": plugin.error}


_SHOWN = ("name", "key", "kind", "version", "description", "source")


class PluginContext:
    """What a plugin registers with, in its `register(ctx)`."""

    def __init__(self, manifest: PluginManifest, keep: Callable[[_Registration], None]) -> None:
        self.manifest = manifest
        self._keep = keep

    @property
    def plugin_id(self) -> str:
        """The plugin's key."""
        return self.manifest.key

    def register_hook(self, hook_name: str, callback: Callback) -> None:
        """Let a callback be called whenever the host reaches a point that has this name."""
        self._add("hook", hook_name, {"callback": callback})

    def register_tool(
        self, name: str, toolset: str, schema: Mapping[str, object], handler: Callback, **more: object
    ) -> None:
        """Offer a tool to the model; `more` are `check_fn`, `requires_env`, `is_async`, `description`, `emoji`."""
        self._add("tool", name, {"toolset": toolset, "schema": schema, "handler": handler, **more})

    def register_command(self, name: str, handler: Callback, description: str = "", args_hint: str = "") -> None:
        """Offer the slash command `/name`."""
        values = {"handler": handler, "description": description, "args_hint": args_hint}
        self._add("command", name.strip().lstrip("/").lower(), values)

    def register_cli_command(  # noqa: PLR0917 - plugins call it like this
        self,
        name: str,
        help: str,  # noqa: A002 - as above
        setup_fn: Callback,
        handler_fn: Callback | None = None,
        description: str = "",
    ) -> None:
        """Offer `hermes name …`; `setup_fn` gets its argparse parser."""
        values = {"help": help, "setup_fn": setup_fn, "handler_fn": handler_fn, "description": description}
        self._add("cli_command", name, values)

    def register_skill(self, name: str, path: str | Path, description: str = "") -> None:
        """Offer a skill of the plugin's own, `plugin:name`."""
        self._add("skill", f"{self.plugin_id}:{name}", {"path": Path(path), "description": description})

    def _add(self, kind: str, name: str, values: Mapping[str, object]) -> None:
        self._keep(_Registration(self.plugin_id, kind, name, values))


# -- the plugins of the home that the context serves

_managers: dict[str, PluginManager] = {}


def get_plugin_manager() -> PluginManager:
    """Return the plugins of the current home; `discover_plugins` loads them."""
    return _managers.setdefault(hermes_home_key(), PluginManager())


def discover_plugins(force: bool = False) -> None:  # noqa: FBT001, FBT002 - hosts call it like this
    """Load the plugins of the current home, as `PluginManager.discover_and_load` says."""
    get_plugin_manager().discover_and_load(force)


def iter_hook_callbacks(hook_name: str) -> tuple[Callback, ...]:
    """Return what the current home's plugins want called for a hook."""
    return get_plugin_manager().iter_hook_callbacks(hook_name)


def invoke_hook(hook_name: str, **kwargs: object) -> list[object]:
    """Call what the current home's plugins registered for a hook, and return what is not `None`."""
    return get_plugin_manager().invoke_hook(hook_name, **kwargs)


# -- importing one


def _register(manifest: PluginManifest, context: PluginContext) -> None:
    """Import a plugin and let it register; nothing of it stays importable if that fails."""
    if manifest.problem:
        raise NotAPlugin(manifest.problem)
    name = _module_name(manifest)
    try:
        _registering(_imported(name, Path(manifest.path)))(context)
    except BaseException:
        _drop_module(name)
        raise


def _registering(module: ModuleType) -> Callback:
    register: object = getattr(module, "register", None)
    if not callable(register):
        raise NotAPlugin("its `__init__.py` has no `register(ctx)`")
    return register


def _imported(name: str, folder: Path) -> ModuleType:
    """Import a folder under a name of its own: `from . import x` works, and no other module is hidden by it."""
    file = folder / "__init__.py"
    spec = spec_from_file_location(name, file, submodule_search_locations=[str(folder)])
    if spec is None or spec.loader is None or not file.is_file():
        raise NotAPlugin("it has no `__init__.py`")
    if _PACKAGE not in sys.modules:
        package = ModuleType(_PACKAGE, "What was imported from the folders of plugins.")
        package.__path__ = []
        sys.modules[_PACKAGE] = package
    module = module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _module_name(manifest: PluginManifest) -> str:
    """Return a name that no other folder has: two profiles may hold different copies of one plugin."""
    place = sha256(os.fsencode(os.path.realpath(manifest.path))).hexdigest()[:16]
    return f"{_PACKAGE}.{manifest.key.replace('/', '__').replace('-', '_')}__source_{place}"


def _drop_module(name: str) -> None:
    for known in [known for known in sys.modules if known == name or known.startswith(f"{name}.")]:
        del sys.modules[known]
