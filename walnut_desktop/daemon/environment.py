"""What an agent inherits: our environment without the traces of other agents and of our own bundle."""

from __future__ import annotations

from collections.abc import Mapping

# Settings of the person for their agent. Every other CLAUDE* variable tells of an agent that runs around us.
_KEPT = {
    "CLAUDE_CONFIG_DIR",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
    "CLAUDE_CODE_USE_FOUNDRY",
    "CLAUDE_CODE_SKIP_BEDROCK_AUTH",
    "CLAUDE_CODE_SKIP_VERTEX_AUTH",
    "CLAUDE_CODE_MAX_OUTPUT_TOKENS",
    "CLAUDE_CODE_API_KEY_HELPER_TTL_MS",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
    "CLAUDE_CODE_SUBAGENT_MODEL",
    "CLAUDE_CODE_CLIENT_CERT",
    "CLAUDE_CODE_CLIENT_KEY",
    "CLAUDE_CODE_CLIENT_KEY_PASSPHRASE",
}
_DROPPED = {"CLAUDECODE", "AI_AGENT"}
_LOADER = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")


def agent_environment(
    base: Mapping[str, str], extra: Mapping[str, str], *, bundled: bool = False
) -> dict[str, str]:
    """`base` scrubbed, with `extra` laid over it. `bundled`: we run from a bundle with its own libraries."""
    env = {
        key: value
        for key, value in base.items()
        if (not key.startswith("CLAUDE") or key in _KEPT)
        and key not in _DROPPED
        and not key.startswith(("QT_", "WALNUT_DAEMON_"))
    }
    for name in _LOADER:
        # The bundle puts its own libraries first and keeps the person's value, if any, under *_ORIG.
        original = env.pop(f"{name}_ORIG", None)
        if original is not None:
            env[name] = original
        elif bundled:
            env.pop(name, None)
    env.update(extra)
    return env
