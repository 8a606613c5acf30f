"""`kerazoo zoo`: the families, their named sizes, and the tasks."""

import json
from typing import Any

import click

from kerazoo.cli.options import debug_option, json_option


@click.command()
@json_option
@debug_option
def zoo(as_json: bool) -> None:
    """List families, named sizes and tasks."""
    content = zoo_content()
    click.echo(json.dumps(content) if as_json else _as_text(content))


def zoo_content() -> dict[str, Any]:
    """Return the named sizes of each family, and the tasks."""
    from kerazoo.backbones.sizes import SIZES
    from kerazoo.tasks.registry import TASKS

    return {"families": {family: dict(SIZES[family]) for family in SIZES}, "tasks": list(TASKS)}


def _as_text(content: dict[str, Any]) -> str:
    """Return a table for each family, and the tasks."""
    lines = []
    for family, sizes in content["families"].items():
        width = max(len(name) for name in sizes)
        lines.append(f"{family:<{width}}  layers  heads  hidden  feed-forward  vocabulary")
        for name, size in sizes.items():
            vocabulary = size.get("vocabulary_size", "given")
            lines.append(
                f"{name:<{width}}  {size['num_layers']:6}  {size['num_heads']:5}  "
                f"{size['hidden_dim']:6}  {size['intermediate_dim']:12}  {vocabulary:>10}"
            )
        lines.append("")
    lines.append("tasks: " + ", ".join(content["tasks"]))
    return "\n".join(lines)
