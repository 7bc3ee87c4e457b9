"""The command `completion`: what a shell runs so that it completes this program's commands, flags, tables and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from hudi_services.cli.flags import CONTEXT, with_examples
from hudi_services.runtime.terminal import echo

PROGRAM = "hudi-services"
_VARIABLE = "_HUDI_SERVICES_COMPLETE"  # by which click is asked to complete
_SHELLS = ("bash", "zsh", "fish")


def _completion(shell: str) -> None:
    completion_class = get_completion_class(shell)
    assert completion_class is not None, "click knows these shells"
    program = click.get_current_context().find_root().command
    # A class of click's own asks the bash of this machine for its version: the script may be for another.
    echo(completion_class.source_template % completion_class(program, {}, PROGRAM, _VARIABLE).source_vars())


completion = click.Command(
    "completion",
    callback=_completion,
    params=[click.Argument(["shell"], type=click.Choice(_SHELLS))],
    help="Print the script that makes a shell complete this program: commands, flags, names of tables, options.",
    epilog=with_examples(
        (
            'eval "$(hudi-services completion bash)"    # in ~/.bashrc; zsh alike, in ~/.zshrc',
            "hudi-services completion fish > ~/.config/fish/completions/hudi-services.fish",
        )
    ),
    context_settings=CONTEXT,
)
