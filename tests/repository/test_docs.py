"""What holds for the pages that people read."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DECISIONS = sorted((ROOT / "docs/decisions").glob("[0-9]*.md"))
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_of_a_page_leads_to_a_file_and_a_heading(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)", page.read_text())

    missing = [(path, anchor) for path, anchor in links if not _is_there(page, path, anchor)]

    assert missing == []


def test_the_readme_fits_on_a_few_screens() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 130


def test_decisions_are_numbered_without_a_gap() -> None:
    assert [int(page.name[:4]) for page in DECISIONS] == list(range(1, len(DECISIONS) + 1))


@pytest.mark.parametrize("page", DECISIONS, ids=lambda page: page.stem)
def test_a_decision_has_its_date_status_context_choice_and_cost_and_a_line_in_the_list(page: Path) -> None:
    heading = rf"# {int(page.name[:4])}\. (.+)\n\n(\d{{4}}-\d\d-\d\d) · (.+)\n"
    paragraphs = "".join(rf"\n\*\*{name}\.\*\* .+\n" for name in ("Context", "Choice", "Cost"))

    parts = re.fullmatch(heading + paragraphs, page.read_text())

    assert parts, f"{page.name}: expected the shape of the other decisions"
    title, date, status = parts.groups()
    line = f"| {int(page.name[:4])} | [{title}]({page.name}) | {date} | {status} |"
    assert line in (ROOT / "docs/decisions/README.md").read_text().splitlines()


def _is_there(page: Path, path: str, anchor: str) -> bool:
    """Whether the file exists and, if the link names a heading, has that heading."""
    target = page.parent / path if path else page
    if not target.exists():
        return False
    headings = re.findall(r"^#+ (.+)$", target.read_text(), re.MULTILINE) if anchor else []
    return not anchor or anchor in {_anchor(heading) for heading in headings}


def _anchor(heading: str) -> str:
    """The name that a repository host gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
