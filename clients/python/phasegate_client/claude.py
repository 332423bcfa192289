"""Hooks for the Claude Agent SDK: callbacks get messages that `phasegate serve` reads, and give back its replies."""

import asyncio

EVENTS = (
    *("SessionStart", "SessionEnd", "UserPromptSubmit", "UserPromptExpansion", "PreToolUse", "PostToolUse"),
    *("PostToolUseFailure", "PostToolBatch", "PermissionDenied", "SubagentStart", "SubagentStop", "Stop"),
    *("PreCompact", "ConfigChange"),
)


def claude_hooks(guard) -> dict:
    """The `hooks` of `ClaudeAgentOptions`."""
    from claude_agent_sdk import HookMatcher

    async def hook(event, _id, _context):
        return replied(event["hook_event_name"], await asyncio.to_thread(guard.ask, event))

    # A matcher that fails denies the call, where the guard does.
    on_failure = "block" if guard.blocks else "continue"
    return {name: [HookMatcher(hooks=[hook], on_failure=on_failure)] for name in EVENTS}


def replied(name: str, reply: dict) -> dict:
    """A reply in the form of the event; a denial that has none gets it."""
    if "deny" not in reply:
        return reply
    if name == "PreToolUse":
        how = {"permissionDecision": "deny", "permissionDecisionReason": reply["deny"]}
        return {"hookSpecificOutput": {"hookEventName": name, **how}}
    if name in ("UserPromptSubmit", "UserPromptExpansion"):
        return {"decision": "block", "reason": reply["deny"]}
    return {"systemMessage": reply["deny"]}
