"""What the client's model is told: the server's instructions and the prompts, from `prompts/mcp/`."""

from __future__ import annotations

import jinja2

from rtlagent.config import resource_dir


def render(name: str, **values: object) -> str:
    """Render prompts/mcp/NAME.md.j2."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(resource_dir("prompts") / "mcp"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # plain text
    )
    return environment.get_template(f"{name}.md.j2").render(**values).strip() + "\n"
