"""``invarlearn words``: what ``--may-change`` understands."""

from __future__ import annotations


def words_command() -> None:
    """List the words of --may-change, and what their values mean."""
    from rich.padding import Padding
    from rich.text import Text

    from invarlearn.cli._show import console
    from invarlearn.models import OUTSIDE
    from invarlearn.transforms import explain_words

    console.print(
        'Words for --may-change, between spaces, quoted: "translation:2 rotation:15,n_steps=5". '
        "The first value stands after a colon, further ones by name after commas; what is not "
        'said is as shown here. "nothing" means no invariance.',
        highlight=False,
    )
    for row in explain_words(fill=OUTSIDE):
        further = f"; further: {row['further']}" if row["further"] else ""
        console.print(Text(f"\n{row['word']}", "bold") + Text(f"  ({row['of']})", "not bold"))
        for text in (row["what_may_change"], row["value"] + further):
            console.print(Padding(Text(text), (0, 0, 0, 4)))
