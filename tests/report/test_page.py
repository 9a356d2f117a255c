"""Pages, as text and in a browser."""

import html
import json
import re
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.svm import SVC

from invarlearn.audit import invariance_report
from invarlearn.datasets import load_mnist_sample
from invarlearn.report import Page
from invarlearn.report.audit import ORIGINS, audit_page, audit_summary
from invarlearn.transforms import Domain, Identity, Rotation, Translation
from invarlearn.transforms.domains import DOMAINS

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


def a_figure():
    figure = Figure(figsize=(12, 3))
    figure.subplots().plot([1, 2, 3])
    return figure


@pytest.fixture
def page():
    rows = [
        {"name": f"row {i}", "value": (f"{v} %", v), "other": None if i == 1 else v}
        for i, v in enumerate([9.0, 10.5, -1.0])
    ]
    rows[2]["name"] = "a name that is long " * 12
    built = Page("A title <b>", "The verdict & what follows.")
    built.heading("Section").paragraph("Text " * 50)
    built.figure(a_figure(), alt='three "points"', caption="A caption")
    built.table(rows, caption="A table")
    return built.made_by("invarlearn audit 'a b'", seed=3)


def test_a_page_has_no_external_resources(page):
    text = page.html()
    assert not re.search(r"(src|href)=\"(?!data:)", text)
    assert "http" not in text
    assert "url(" not in text


def test_texts_are_escaped(page):
    text = page.html()
    assert "<title>A title &lt;b&gt;</title>" in text
    assert "The verdict &amp; what follows." in text
    assert 'alt="three &#34;points&#34;"' in text
    assert "invarlearn audit &#39;a b&#39;" in text
    nasty = Page("t", "v").table([{"<script>": "</td><script>alert(1)</script>"}]).html()
    assert nasty.count("<script>") == 1


def test_the_verdict_comes_first_and_versions_last(page):
    text = page.html()
    places = [text.index(words) for words in ("The verdict", "Section", "A table", "numpy ")]
    assert places == sorted(places)
    assert "<dt>seed</dt><dd>3</dd>" in text


def test_a_page_is_written_as_the_same_bytes_each_time(page, tmp_path):
    first, second = (page.write(tmp_path / "sub" / name).read_bytes() for name in "ab")
    assert first == second
    assert sorted(p.name for p in (tmp_path / "sub").iterdir()) == ["a", "b"]


def test_an_empty_table_is_a_paragraph():
    assert "Nothing to show" in Page("t", "v").table([]).html()


def in_browser(content, script, tmp_path, width=375):
    """Open a page in a frame of some width and run a script in it; return its result."""
    if CHROMIUM is None:
        pytest.skip("chromium is not installed: pages are not checked in a browser")
    outer = f"""<!doctype html><body>
<iframe id="frame" style="width:{width}px;height:20000px;border:0" srcdoc="{html.escape(content)}">
</iframe><pre id="found"></pre><script>
window.addEventListener("load", () => {{
  const page = document.getElementById("frame").contentDocument;
  const found = ((page) => {{ {script} }})(page);
  document.getElementById("found").textContent = JSON.stringify(found);
}});</script></body>"""
    path = tmp_path / "outer.html"
    path.write_text(outer, encoding="utf-8")
    run = subprocess.run(
        [
            CHROMIUM,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--enable-logging=stderr",
            f"--user-data-dir={tmp_path / 'profile'}",
            "--virtual-time-budget=3000",
            "--dump-dom",
            path.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    errors = [line for line in run.stderr.splitlines() if "CONSOLE" in line]
    assert not errors, errors
    answer = re.search(r'<pre id="found">(.*?)</pre>', run.stdout, flags=re.DOTALL)
    return json.loads(html.unescape(answer.group(1)))


SORT = """
  const button = (i) => page.querySelectorAll("th button")[i];
  const rows = () => [...page.querySelectorAll("tbody tr")];
  const cells = (i) => rows().map((row) => row.cells[i].textContent);
  const found = [cells(1)];
  button(1).click(); found.push(cells(1));
  button(1).click(); found.push(cells(1));
  found.push(page.querySelectorAll("th")[1].getAttribute("aria-sort"));
  button(2).click(); found.push(cells(2));
  button(0).click(); found.push(cells(0).map((name) => name.slice(0, 5)));
  return found;
"""


def test_tables_sort_in_a_browser(page, tmp_path):
    columns = in_browser(page.html(), SORT, tmp_path)
    assert columns[0] == ["9.0 %", "10.5 %", "-1.0 %"]
    assert columns[1] == ["10.5 %", "9.0 %", "-1.0 %"]
    assert columns[2] == ["-1.0 %", "9.0 %", "10.5 %"]
    assert columns[3] == "ascending"
    # missing values come last
    assert columns[4] == ["9", "-1", ""]
    assert columns[5] == ["a nam", "row 0", "row 1"]


WIDTHS = """
  const root = page.documentElement;
  const wide = [...page.querySelectorAll("h1,h2,p,figure,img,pre,dl,.wide")]
    .filter((one) => one.getBoundingClientRect().right > root.clientWidth + 1)
    .map((one) => one.tagName);
  return [root.scrollWidth, root.clientWidth, wide, page.images[0].naturalWidth > 0];
"""


@pytest.mark.parametrize("width", [375, 1200])
def test_nothing_overflows(page, tmp_path, width):
    scroll, client, wide, drawn = in_browser(page.html(), WIDTHS, tmp_path, width)
    assert client == width
    assert scroll <= width
    assert wide == []
    assert drawn


@pytest.fixture(scope="module")
def report():
    digits = load_mnist_sample()
    svc = SVC().fit(digits.X_train[:200], digits.y_train[:200])
    family = Translation(2) * Rotation(15)
    return invariance_report(svc, digits.X_test[:80], digits.y_test[:80], family, 10)


def test_the_page_of_an_audit_states_the_results(report):
    names = [f"digit-{i}.png" for i in range(80)]
    text = audit_page(report, (28, 28), names, "Audit").html()
    assert f"flips {100 * report.overall.flip_rate.value:.1f} % of predictions" in text
    assert "The most harmful part is translation" in text
    assert text.count("<img ") == 3
    assert text.count("<table>") == 4
    assert report.mistakes
    for flip in [*report.flips, *report.mistakes]:
        assert f"digit-{flip.index}.png" in text
    assert 'alt="Pairs of pictures' in text


def test_rows_that_are_not_images_have_no_pictures(report):
    text = audit_page(report, None, np.arange(80).astype(str), "Audit").html()
    assert text.count("<img ") == 2


def test_pictures_of_an_unknown_domain_get_one_warning(report):
    assert set(ORIGINS) == set(DOMAINS)
    family = Translation(2)
    family.domain = Domain("sentence", ("words",), "none")
    names = np.arange(80).astype(str)
    with pytest.warns(UserWarning, match="pictures of the domain 'sentence'") as caught:
        audit_page(replace(report, family=family), (28, 28), names, "Audit")
    assert len(caught) == 1


def test_a_classifier_that_never_flips_gets_a_page_without_flips():
    digits = load_mnist_sample()
    svc = SVC().fit(digits.X_train[:200], digits.y_train[:200])
    report = invariance_report(svc, digits.X_test[:20], digits.y_test[:20], Identity())
    text = audit_page(report, (28, 28), list("abcdefghijklmnopqrst"), "Audit").html()
    assert "No correctly classified sample is misclassified" in text
    assert audit_summary(report).startswith("The declared family flips 0.0 % of predictions")


def test_the_page_of_an_audit_in_a_browser(report, tmp_path):
    names = [f"digit-{i}.png" for i in range(80)]
    content = audit_page(report, (28, 28), names, "Audit").made_by("invarlearn audit x").html()
    scroll, client, wide, drawn = in_browser(content, WIDTHS, tmp_path)
    assert (scroll, client, wide, drawn) == (375, 375, [], True)
