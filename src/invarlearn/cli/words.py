"""``invarlearn words``: what ``--may-change`` understands."""

from __future__ import annotations


def words_command() -> None:
    """List the words of --may-change: name:value,value, or name:parameter=value."""
    from invarlearn.cli._show import console, show_table
    from invarlearn.transforms import explain_words

    show_table(explain_words(), "What may change")
    console.print('several words between spaces, quoted: --may-change "translation:2 rotation:15"')
    console.print('"nothing": no invariance')
