"""Examples of each verb, which its `--help` ends with: each is a command that is understood as it stands."""

from collections.abc import Mapping, Sequence

EXAMPLES: Mapping[tuple[str, str], Sequence[str]] = {
    ("plugins", "install"): (
        "hermes plugins install ./ws-chat --enable",
        "hermes plugins install owner/repository/plugins/ws-chat --dry-run",
        "hermes plugins install https://example.org/ws-chat.git --ref 1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e",
    ),
    ("plugins", "update"): (
        "hermes plugins update",
        "hermes plugins update ws-chat",
        "hermes plugins update --all --yes",
    ),
    ("plugins", "outdated"): ("hermes plugins outdated", "hermes plugins outdated ws-chat --json"),
    ("plugins", "remove"): ("hermes plugins remove ws-chat", "hermes plugins remove ws-chat notes --dry-run"),
    ("plugins", "enable"): ("hermes plugins enable ws-chat", "hermes plugins enable ws-chat notes"),
    ("plugins", "disable"): ("hermes plugins disable ws-chat", "hermes plugins disable ws-chat --home ~/.hermes"),
    ("plugins", "use"): ("hermes plugins use memory notes", "hermes plugins use context-engine builtin"),
    ("plugins", "check"): (
        "hermes plugins check",
        "hermes plugins check ./ws-chat --patch ws-chat.patch",
        "hermes plugins check --core hermes-agent==0.19.0 --json",
    ),
    ("plugins", "validate"): (
        "hermes plugins validate .",
        "hermes plugins validate . --core hermes-agent==0.19.0 --python 3.12 --format github",
    ),
    ("plugins", "list"): ("hermes plugins list", "hermes plugins list --enabled --plain", "hermes plugins list --json"),
    ("plugins", "search"): ("hermes plugins search", "hermes plugins search memory --json"),
    ("plugins", "show"): ("hermes plugins show ws-chat", "hermes plugins show memory/notes --json"),
    ("pm", "init"): (
        "hermes pm init --core hermes-agent==0.19.0",
        "hermes pm init --core ../hermes-agent --python 3.12",
        "hermes pm init --bundle ./hermes-bundle --offline",
    ),
    ("pm", "extras"): (
        "hermes pm extras",
        "hermes pm extras add edge-tts",
        "hermes pm extras remove edge-tts --dry-run",
    ),
    ("pm", "verify"): ("hermes pm verify", "hermes pm verify --all --json"),
    ("pm", "repair"): ("hermes pm repair", "hermes pm repair --offline"),
    ("pm", "rollback"): ("hermes pm rollback", "hermes pm rollback 3 --dry-run"),
    ("pm", "gc"): ("hermes pm gc --dry-run", "hermes pm gc --keep 2 --cache"),
    ("pm", "generations"): ("hermes pm generations", "hermes pm generations --json"),
    ("pm", "diff"): ("hermes pm diff", "hermes pm diff 3 5"),
    ("pm", "status"): ("hermes pm status", "hermes pm status --json"),
    ("pm", "doctor"): ("hermes pm doctor", "hermes pm doctor --json"),
    ("pm", "services"): ("hermes pm services", "hermes pm services --write --dry-run"),
    ("pm", "bundle"): ("hermes pm bundle --output ./hermes-bundle",),
    ("pm", "receipts"): (
        "hermes pm receipts",
        "hermes pm receipts show latest",
        "hermes pm receipts example core-conflict",
    ),
    ("pm", "why"): ("hermes pm why httpx", "hermes pm why --not 'httpx>=0.29'"),
    ("pm", "tree"): ("hermes pm tree --depth 2", "hermes pm tree --invert httpx"),
    ("run", ""): ("hermes run -- hermes chat", "hermes run --safe -- hermes chat", "hermes run -- python script.py"),
    ("update", ""): (
        "hermes update --check",
        "hermes update",
        "hermes update --core hermes-agent==0.19.0 --without ws-chat",
    ),
    ("link", ""): ("hermes-pm link", "hermes-pm link --bin ~/.local/bin --dry-run"),
    ("unlink", ""): ("hermes-pm unlink",),
    ("uninstall", ""): ("hermes-pm uninstall --dry-run", "hermes-pm uninstall --purge"),
    ("pm", "completion"): (
        "hermes pm completion bash > ~/.local/share/bash-completion/completions/hermes",
        "hermes pm completion zsh > ~/.zfunc/_hermes",
        "hermes pm completion fish > ~/.config/fish/completions/hermes.fish",
    ),
}


def examples_of(family: str, name: str) -> str:
    """Return the examples of a verb as its help shows them."""
    return "\n".join(("examples:", *(f"  {line}" for line in EXAMPLES[family, name])))
