import click
from click.testing import CliRunner

from kerazoo.cli.corpus_options import corpus_options


def test_both_commands_read_a_corpus_alike():
    @click.command()
    @corpus_options
    def show(**options):
        click.echo(str(sorted(options.items())))

    run = CliRunner().invoke
    assert run(show).output == "[('document_per_file', False), ('errors', 'strict')]\n"
    given = run(show, ["--errors", "replace", "--document-per-file"])
    assert given.output == "[('document_per_file', True), ('errors', 'replace')]\n"
