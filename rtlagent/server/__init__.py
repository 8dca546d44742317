"""The MCP server: a coding agent that the user already has drives rtlagent's tools.

A tool call is a `requests` dataclass that `worker` carries out in a process of its own (see `worker_process`), so that
a call can be cancelled, runs beside others, and dies with the server. What comes back is a `replies.Reply`: short, with
paths for the rest. `tools`, `resources` and `texts` say what the client sees; `transports` serves it.
"""
