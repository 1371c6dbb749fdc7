# Sourced by scripts/check and scripts/quickstart: gives `.venv` what this checkout declares, when that has changed.
# Expects `root`, the absolute path of the checkout, and a shell that stops at errors.

# prepare_environment product|development
prepare_environment() {
    local purpose=$1
    environment_is_ours || create_environment
    local wanted
    wanted=$(declared_fingerprint)
    if [ "$(cat "$root/.venv/.installed-$purpose" 2>/dev/null)" != "$wanted" ]; then
        install_checkout "$purpose"
        # What is needed for development holds all that the product needs.
        printf '%s\n' "$wanted" >"$root/.venv/.installed-product"
        printf '%s\n' "$wanted" >"$root/.venv/.installed-$purpose"
    fi
}

# A moved checkout takes `.venv` along, but the programs in it still name the old place.
environment_is_ours() {
    [ -x "$root/.venv/bin/uv" ] && "$root/.venv/bin/python" - "$root/.venv" 2>/dev/null <<'PYTHON'
import pathlib
import sys

lines = pathlib.Path(sys.prefix, "pyvenv.cfg").read_text().splitlines()
made_here = any(line.startswith("command = ") and line.endswith(f" {sys.argv[1]}") for line in lines)
sys.exit(not made_here or sys.version_info < (3, 11))
PYTHON
}

create_environment() {
    local python
    python=$(find_python)
    echo "creating .venv with $python"
    if ! "$python" -m venv --clear "$root/.venv"; then
        echo "\`$python -m venv\` does not work; on Debian and Ubuntu the package python3-venv brings it" >&2
        return 1
    fi
    "$root/.venv/bin/python" -m pip install --quiet --disable-pip-version-check "uv==$(pinned_uv)"
}

install_checkout() {
    local -a what=(--editable . --reinstall-package hermes-plugin-manager)
    if [ "$1" = development ]; then
        what+=(--group dev)
    fi
    echo "installing hermes-pm for $1 into .venv"
    (
        cd "$root"
        follow_pip
        .venv/bin/uv pip install --quiet --python .venv/bin/python "${what[@]}"
    )
}

# pip has just brought uv, so what pip knows here of index and certificates works; uv reads none of it by itself.
follow_pip() {
    local settings index certificates
    settings=$(.venv/bin/python -m pip --disable-pip-version-check config list)
    index=$(setting index-url)
    certificates=$(setting cert)
    if [ -n "$index" ]; then export UV_DEFAULT_INDEX=${UV_DEFAULT_INDEX:-$index}; fi
    if [ -n "$certificates" ]; then export SSL_CERT_FILE=${SSL_CERT_FILE:-$certificates}; fi
}

# The first of pip's values for a name: pip lists its environment variables before its files.
setting() {
    sed -n -E "/^[^.]+\\.$1='(.*)'\$/{s//\\1/p;q;}" <<<"$settings"
}

find_python() {
    local candidate
    for candidate in python3.11 python3 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.11*/bin/python3.11; do
        # Run it: a pyenv shim exists for versions that are not selected, too.
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            # Not an activated environment's own, which may be the one to be replaced.
            "$candidate" -c 'import sys; print(sys._base_executable)'
            return
        fi
    done
    echo "no Python 3.11 or newer was found: tried \`python3.11\`, \`python3\` and pyenv's" >&2
    return 1
}

# Of all that an installation depends on; the modules of an editable install are read where they are.
declared_fingerprint() {
    "$root/.venv/bin/python" - "$root" <<'PYTHON'
import hashlib
import pathlib
import sys

root = pathlib.Path(sys.argv[1])
inputs = [root / "pyproject.toml", root / "hatch_build.py", root / "scripts" / "hermes-pm"]
inputs += sorted(p for p in (root / "core").rglob("*") if p.is_file() and "__pycache__" not in p.parts)
digest = hashlib.sha256(sys.version.encode())
for path in inputs:
    digest.update(f"{path.relative_to(root)}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
print(digest.hexdigest())
PYTHON
}

# The development group of pyproject.toml is the one place that says which uv.
pinned_uv() {
    sed -n 's/^ *"uv==\([^"]*\)",$/\1/p' "$root/pyproject.toml"
}
