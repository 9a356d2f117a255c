"""``invarlearn families``: the families for ``--may-change``."""

from __future__ import annotations


def families_command() -> None:
    """List the families for --may-change, with their parameters and defaults."""
    from rich.padding import Padding
    from rich.text import Text

    from invarlearn.app.cli._terminal import console
    from invarlearn.app.families import FILL
    from invarlearn.transforms import describe_families

    console.print(
        "Families for --may-change. Separate families by spaces, and quote the specification: "
        '"translation:2 rotation:15,n_steps=5". The first value follows a colon; further '
        "parameters follow commas, by name. Parameters that are not stated have the defaults shown "
        'here. "nothing" is the family without transformations.',
        highlight=False,
    )
    for family in describe_families(fill=FILL):
        options = f"; further: {family.options}" if family.options else ""
        domain = Text(f"  ({family.domain})", "not bold")
        console.print(Text(f"\n{family.specification}", "bold") + domain)
        for text in (family.summary, family.value + options):
            console.print(Padding(Text(text), (0, 0, 0, 4)))
