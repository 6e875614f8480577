"""The demo's drawing: the same for the same, well-formed, and honest about times."""

from xml.etree import ElementTree

from tools.demo.picture import Lane, Moment, Paint, Picture, Span, svg

_SVG = "{http://www.w3.org/2000/svg}"


def _picture(*lanes: Lane, title: str = "a title") -> Picture:
    return Picture(title, "a caption", 100.0, lanes)


def _rectangles(drawn: str, paint: Paint) -> list[tuple[float, float]]:
    """Left edge and width of what was drawn in the lanes, the legend left out."""
    found = ElementTree.fromstring(drawn).findall(f"{_SVG}rect[@class='{paint}']")
    return [
        (float(each.attrib["x"]), float(each.attrib["width"]))
        for each in found
        if each.find(f"{_SVG}title") is not None
    ]


def _words(drawn: str) -> list[str]:
    return [each.text or "" for each in ElementTree.fromstring(drawn).findall(f"{_SVG}text")]


def test_the_same_picture_is_the_same_text() -> None:
    lane = Lane("index", (Span(1, 30, Paint.READY, "ready"),), (Moment(12, Paint.LOOK_UP, "looked"),))

    assert svg(_picture(lane)) == svg(_picture(lane))


def test_twice_the_time_is_twice_as_wide() -> None:
    drawn = svg(_picture(Lane("index", (Span(10, 20, Paint.BASE), Span(40, 60, Paint.BASE)))))

    (_, short), (_, long) = _rectangles(drawn, Paint.BASE)
    assert abs(long - 2 * short) < 0.2


def test_a_span_too_short_to_be_seen_is_drawn_all_the_same() -> None:
    drawn = svg(_picture(Lane("index", (Span(10, 10, Paint.PLAN),))))

    ((_, width),) = _rectangles(drawn, Paint.PLAN)
    assert width >= 1


def test_words_that_mean_something_to_xml_are_words() -> None:
    drawn = svg(_picture(Lane("<&>", (Span(0, 50, Paint.RUN, "a < b & c"),)), title='a "title" & more'))

    assert {"<&>", "a < b & c", 'a "title" & more'} <= set(_words(drawn))


def test_a_label_that_does_not_fit_stands_above_and_two_never_on_each_other() -> None:
    moments = tuple(Moment(at, Paint.LOOK_UP, f"a rather long label {at}") for at in (10, 11))
    drawn = svg(_picture(Lane("look-ups", moments=moments)))

    placed = [each for each in ElementTree.fromstring(drawn).findall(f"{_SVG}text") if "rather" in (each.text or "")]
    first, second = (float(each.attrib["x"]) for each in placed)
    assert second - first > 100


def test_the_legend_names_what_was_drawn_and_nothing_else() -> None:
    words = _words(svg(_picture(Lane("index", (Span(1, 2, Paint.CATCH_UP),)))))

    assert "catch-up" in words
    assert "dropped" not in words


def test_colours_are_given_for_light_and_for_dark_pages() -> None:
    drawn = svg(_picture())

    assert "@media(prefers-color-scheme:dark)" in drawn
    for paint in Paint:
        assert drawn.count(f".{paint}{{fill:") == 2
