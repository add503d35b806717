# SPDX-License-Identifier: Apache-2.0
"""Plots: drawings of objects and of containers, logarithmic axes, parts as directories, the page of all plots."""

import html.parser
import os
import shutil
import time
import urllib.parse
import xml.dom.minidom

import numpy as np
import pytest

import bad_storage
import mounted
import mounted_table

SAMPLE = "plots"
FUNCTIONS = ["landau", "landaun", "crystalball", "breitwigner", "cheb2", "gausn", "voigt", "poisson", "gamma_dist", "log_normal",
             "student", "normal_pdf", "bessel", "sum", "laplace", "named", "integers"]


def text_of(path):
    return mounted_table.read_exactly(path).decode("utf-8")


def drawn(path):
    """The plot at `path`: a well-formed document with valid numbers."""
    svg = text_of(path)
    for none in ("nan", "inf", "<script"):
        assert none not in svg
    return xml.dom.minidom.parseString(svg).documentElement


def letters(element):
    return "".join(node.data if node.nodeType == node.TEXT_NODE else letters(node) for node in element.childNodes)


def texts(document):
    return [letters(text) for text in document.getElementsByTagName("text")]


def paths(document, style):
    return [path for path in document.getElementsByTagName("path") if path.getAttribute("class") == style]


def test_a_fit_is_drawn_over_its_histogram(top):
    assert len(paths(drawn(os.path.join(top, "fitted", "plot.svg")), "line")) == 2
    assert len(paths(drawn(os.path.join(top, "hidden", "plot.svg")), "line")) == 1


def test_a_fit_is_drawn_over_its_graph(top):
    assert len(paths(drawn(os.path.join(top, "points", "plot.svg")), "line")) == 2


def test_labels_are_whole_in_the_plot_and_the_table(top):
    long = "HLT_Mu50 or a trigger with a much longer name than the others have"
    assert long in texts(drawn(os.path.join(top, "labels", "plot.svg")))
    lines = text_of(os.path.join(top, "labels", "table.csv")).splitlines()
    assert lines[0] == "x_low,x_high,y_low,y_high,value,error,x_label"
    assert lines[1].endswith(f',"{long}"') and lines[3].endswith(',"\'=1+""2"", x"')


def test_empty_cells_of_a_signed_map_have_a_colour(top):
    document = drawn(os.path.join(top, "labels", "plot.svg"))
    cells = document.getElementsByTagName("g")[1].getElementsByTagName("rect")
    assert len({cell.getAttribute("fill") for cell in cells}) == 2


def test_all_errors_of_a_graph(top):
    directory = os.path.join(top, "several")
    for i, (low, high) in enumerate(((0.3, 0.4), (0.5, 0.6))):
        np.testing.assert_array_equal(np.fromfile(os.path.join(directory, f"eylow{i}"), "<f8"), [low] * 3)
        np.testing.assert_array_equal(np.fromfile(os.path.join(directory, f"eyhigh{i}"), "<f8"), [high] * 3)
    rows = np.genfromtxt(os.path.join(directory, "table.csv"), delimiter=",", names=True)
    np.testing.assert_allclose(rows["y_error_low"], np.hypot(0.3, 0.5))
    np.testing.assert_allclose(rows["y_error_high1"], 0.6)
    bars = [line for line in drawn(os.path.join(directory, "plot.svg")).getElementsByTagName("line")
            if line.getAttribute("class") == "error" and line.getAttribute("x1") == line.getAttribute("x2")]
    assert len(bars) == 6


@pytest.mark.parametrize("name", ("band_a3", "band_al4", "band_own"))
def test_errors_of_a_graph_are_a_band(top, name):
    """A path along the upper ends and back along the lower ones."""
    document = drawn(os.path.join(top, name, "plot.svg"))
    [band] = paths(document, "fill")
    corners = [tuple(map(float, corner.split())) for corner in band.getAttribute("d").strip("MZ").split("L")]
    assert len(corners) == 12
    for (x, high), (x_back, low) in zip(corners[:6], reversed(corners[6:])):
        assert x == x_back and high < low
    assert len(paths(document, "line")) == (1 if "l4" in name else 0)
    assert not [circle for circle in document.getElementsByTagName("circle") if circle.getAttribute("class") == "point"]
    assert not paths(drawn(os.path.join(top, "band_ap", "plot.svg")), "fill")


# A smooth line has seven places between two bins. E5 and E6 pass over the bin without content.
@pytest.mark.parametrize("name, parts, corners", (("bins_e2", 6, 24), ("bins_e3", 1, 12), ("bins_e4", 1, 12 + 2 * 5 * 7),
                                                  ("bins_e5", 1, 10), ("bins_e6", 1, 10 + 2 * 4 * 7)))
def test_errors_of_a_histogram_are_boxes_or_a_band(top, name, parts, corners):
    document = drawn(os.path.join(top, name, "plot.svg"))
    [band] = paths(document, "fill")
    path = band.getAttribute("d")
    assert path.count("M") == path.count("Z") == parts and path.count("L") == corners - parts
    assert not paths(document, "line")


def test_letters_have_no_places_of_their_own_in_a_line(top):
    """A font of any width sets them: only the first letters of a line have a place."""
    texts_seen = 0
    for name in os.listdir(top):
        if not os.path.exists(os.path.join(top, name, "plot.svg")):
            continue
        for text in drawn(os.path.join(top, name, "plot.svg")).getElementsByTagName("text"):
            texts_seen += 1
            assert text.getAttribute("x") and text.getAttribute("y")
            assert not any(part.hasAttribute("x") or part.hasAttribute("y") for part in text.getElementsByTagName("tspan"))
    assert texts_seen > 500


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_that_root_has_names_for(top, name):
    rows = np.loadtxt(os.path.join(top, "f_" + name, "table.csv"), delimiter=",", skiprows=1)
    expected = np.fromfile(os.path.join(top, "g_" + name, "y"), "<f8")
    np.testing.assert_allclose(rows[:, 0], np.fromfile(os.path.join(top, "g_" + name, "x"), "<f8"), atol=1e-12)
    tolerance = 2e-4 if name == "voigt" else 1e-6  # ROOT's own approximation is not better
    np.testing.assert_allclose(rows[:, 1], expected, rtol=tolerance, atol=tolerance * np.abs(expected).max())
    assert paths(drawn(os.path.join(top, "f_" + name, "plot.svg")), "line")


@pytest.mark.parametrize("name", ["norm_sum", "convolution", "circle", "integral", "alone_circle", "alone_integral", "saved",
                                  "slice_x", "slice_y"])
def test_functions_composed_of_others(top, name):
    """And a function of compiled code with saved points, whose ends must be ROOT's."""
    rows = np.loadtxt(os.path.join(top, "f_" + name, "table.csv"), delimiter=",", skiprows=1)
    expected = np.fromfile(os.path.join(top, "g_" + name, "y"), "<f8")
    np.testing.assert_allclose(rows[:, 0], np.fromfile(os.path.join(top, "g_" + name, "x"), "<f8"), atol=1e-12)
    np.testing.assert_allclose(rows[:, 1], expected, rtol=1e-8, atol=1e-9 * np.abs(expected).max())
    assert paths(drawn(os.path.join(top, "f_" + name, "plot.svg")), "line")


def test_cumulative_distributions(top):
    names = [name.removeprefix("f_") for name in os.listdir(top) if name.startswith("f_cumulative_")]
    assert len(names) == 37
    different = []
    for name in names:
        rows = np.loadtxt(os.path.join(top, "f_" + name, "table.csv"), delimiter=",", skiprows=1)
        expected = np.fromfile(os.path.join(top, "g_" + name, "y"), "<f8")
        if not np.allclose(rows[:, 1], expected, rtol=1e-8, atol=1e-9, equal_nan=True):
            different.append((name, rows[:, 1][rows[:, 1] != expected][:3], expected[rows[:, 1] != expected][:3]))
    assert not different


def test_errors_of_weights_below_0_are_none_as_roots(top):
    rows = np.genfromtxt(os.path.join(top, "weights", "table.csv"), delimiter=",", names=True)
    np.testing.assert_allclose(rows["error"], [np.nan, 0.5**0.5, 0])
    drawn(os.path.join(top, "weights", "plot.svg"))


def test_errors_of_points_in_space_are_in_the_table(top):
    def rows(name):
        return np.genfromtxt(os.path.join(top, name, "table.csv"), delimiter=",", names=True)

    one, two = rows("space_errors"), rows("space_asymmetric")
    assert one.dtype.names == two.dtype.names and one.dtype.names[-2:] == ("z_error_low", "z_error_high")
    np.testing.assert_allclose([one["z_error_low"], one["z_error_high"]], 0.3)
    np.testing.assert_allclose(two["z_error_low"], 0.5)
    np.testing.assert_allclose(two["z_error_high"], 0.6)


def test_an_efficiency_of_three_dimensions_has_no_plot(top, file, mount):
    m = mount(file)
    assert os.listdir(os.path.join(m.path, "deep")) and not os.path.exists(os.path.join(m.path, "deep", "plot.svg"))
    assert "/deep: no plot: " in m.errors()


@pytest.mark.parametrize("name, left_out", (("cube_alone", "TH3D"),))
def test_a_plot_in_which_nothing_is_drawn_says_so(top, name, left_out):
    assert f"{left_out} is not drawn" in texts(drawn(os.path.join(top, name, "plot.svg")))


def test_lists_of_nothing_that_is_shown_have_no_directory(top):
    assert sorted(os.listdir(os.path.join(top, "cube_alone"))) == ["cube", "object.bin", "object.json", "object.streamerinfo"]


def test_a_frame_of_roofit(samples, mount):
    top = mount(os.path.join(samples("plots"), "frames.root")).path
    document = drawn(os.path.join(top, "frame", "plot.svg"))
    styles = [line.getAttribute("style") for line in paths(document, "line")]
    assert len(styles) == 2 and "#0000ff" in styles[0] and "#ff0000" in styles[1] and "dasharray" in styles[1]
    points = [circle for circle in document.getElementsByTagName("circle")]
    assert len(points) == 20
    assert {"A frame", "x mass", "Events / ( 0.5 )", "-4", "4", "0"} <= set(texts(document))
    data = os.path.join(top, "frame", "h_shapeData")
    assert np.fromfile(os.path.join(data, "y"), "<f8").sum() == 1000
    drawn(os.path.join(top, "frame", "plot.logy.svg"))


def test_what_is_not_understood_has_no_plot(top, file, mount):
    assert not os.path.exists(os.path.join(top, "f_unknown", "plot.svg"))
    m = mount(file, "views=listed")
    listed = os.listdir(os.path.join(m.path, "f_unknown"))
    assert sorted(listed) == ["object.bin", "object.json", "object.streamerinfo"]
    assert "/f_unknown: no plot: cannot parse the formula: " in m.errors() and "unknown_to_all" in m.errors()


@pytest.mark.parametrize("axes", ["x", "y", "z", "xy", "xz", "yz", "xyz"])
def test_logarithmic_axes_by_name(top, axes):
    for name in ("fitted", "labels", "stack", "canvas", "space", "several"):
        drawn(os.path.join(top, name, f"plot.log{axes}.svg"))
    decades = "1000" if "y" in axes else "100"
    assert ("10" in texts(drawn(os.path.join(top, "fitted", f"plot.log{axes}.svg")))) == ("y" in axes), decades


def test_other_names_are_no_plots(top):
    for name in ("plot.log.svg", "plot.logyx.svg", "plot.logq.svg", "plot.logxx.svg", "plot.logy.svg.svg"):
        assert not os.path.exists(os.path.join(top, "fitted", name))


def test_stacks_are_on_top_of_each_other(top):
    document = drawn(os.path.join(top, "stack", "plot.svg"))
    fills = [path.getAttribute("style") for path in paths(document, "fill")]
    assert [fill.split(";")[0] for fill in fills] == ["fill:#009900", "fill:#3399ff", "fill:#ff0000"]
    assert {"part 0", "part 1", "part 2", "stack"} <= set(texts(document))
    assert "30" in texts(document)  # 5 + 10 + 15 entries in the last bin


def test_the_sum_of_maps_in_a_stack_is_drawn(top):
    """Two bins with 1, and one with 2 of each."""
    document = drawn(os.path.join(top, "maps", "plot.svg"))
    assert {"maps", "sum of 2 histograms", "4.0"} <= set(texts(document))
    assert not any("TH2F" in text for text in texts(document))


def test_graphs_in_one_frame(top):
    lines = paths(drawn(os.path.join(top, "graphs", "plot.svg")), "line")
    assert [line.getAttribute("style") for line in lines] == ["stroke:#ff0000;", "stroke:#00ff00;"]


def test_canvases_with_pads_texts_and_legends(top):
    document = drawn(os.path.join(top, "canvas", "plot.svg"))
    assert {"the <first>", "map", "x", "y"} <= set(texts(document))
    assert any("& more" in text for text in texts(document))
    assert len([rect for rect in document.getElementsByTagName("rect") if rect.getAttribute("class") == "frame"]) >= 2


def test_parts_are_directories(top, file, mount):
    parts = ["part0", "part1", "part2"]
    assert sorted(os.listdir(os.path.join(top, "stack"))) == ["object.bin", "object.json", "object.streamerinfo", *parts]
    np.testing.assert_array_equal(np.fromfile(os.path.join(top, "stack", "part1", "values"), "<f4"), [2, 4, 6, 8, 10])
    same = sorted(name for name in os.listdir(os.path.join(top, "graphs")) if name.startswith("same"))
    assert len(same) == 2 and same[0] == "same" and same[1].startswith("same~")
    assert np.fromfile(os.path.join(top, "graphs", same[1], "x.f8"), "<f8")[0] == 1
    pad = os.path.join(top, "canvas", "canvas_1")
    assert "stack" in os.listdir(pad)
    drawn(os.path.join(pad, "plot.svg"))
    drawn(os.path.join(pad, "stack", "plot.logy.svg"))
    np.testing.assert_array_equal(np.fromfile(os.path.join(pad, "stack", "part0", "values"), "<f4"), [1, 2, 3, 4, 5])
    many = os.path.join(top, "many")
    assert sorted(os.listdir(many)) == ["inner", "object.bin", "object.json", "object.streamerinfo", *parts]
    # The same object twice: at its own place, and where it is referred to.
    assert "part2" in os.listdir(os.path.join(many, "inner", "stack"))
    assert text_of(os.path.join(many, "part0", "table.csv")).splitlines()[1] == "0,1,1,1"
    listed = os.listdir(os.path.join(mount(file, "views=listed").path, "many", "part0"))
    assert {"plot.svg", "table.csv", "values.f4"} <= set(listed) and "object.json" not in listed


def test_no_part_hides_a_file_of_its_object(top):
    odd = os.path.join(top, "odd")
    parts = sorted(name for name in os.listdir(odd) if os.path.isdir(os.path.join(odd, name)))
    assert len(parts) == 2 and parts[0].startswith("object.bin~") and parts[1].startswith("plot.svg~")
    assert len(mounted_table.read_exactly(os.path.join(odd, "object.bin"))) > 100
    for part in parts:
        drawn(os.path.join(odd, part, "plot.svg"))


class Links(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.images, self.tags, self.links = [], set(), []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag == "img":
            self.images.append(urllib.parse.unquote(dict(attrs)["src"]))
        if tag == "a":
            self.links.append(urllib.parse.unquote(dict(attrs)["href"]))


def test_a_page_of_all_plots_below_a_directory(top, file, mount):
    page = os.path.join(top, "index.html")
    links = Links()
    links.feed(text_of(page))
    assert "./below/deep %2541/h <&>/plot.svg" in links.images
    assert {"./fitted/plot.svg", "./canvas/plot.svg", "./stack/plot.svg"} <= set(links.images)
    missing = [image for image in links.images if not os.path.exists(os.path.join(top, image))]
    assert sorted(missing) == ["./deep/plot.svg", "./f_unknown/plot.svg"]  # objects are not read for this page
    assert f"<h1>{os.path.basename(file)}</h1>" in text_of(page)
    assert f"<h1>{os.path.basename(file)}/below</h1>" in text_of(os.path.join(top, "below", "index.html"))
    inner = Links()
    inner.feed(text_of(os.path.join(top, "below", "index.html")))
    assert inner.images == ["./deep %2541/h <&>/plot.svg"]
    assert "index.html" not in os.listdir(top)
    assert "index.html" in os.listdir(mount(file, "views=listed").path)
    assert os.stat(page).st_size == len(text_of(page).encode())


@bad_storage.needs_library
def test_the_page_of_a_mirrored_directory_is_made_when_it_is_asked_for(file, mount, tmp_path):
    """A look-up of its name, for which others wait in the kernel, does not wait for it."""
    for i in range(6):
        shutil.copy(file, tmp_path / f"{i}.root")
    page = os.path.join(mount(tmp_path, environment=bad_storage.environment(SLOW_READS="50")).path, "index.html")
    begin = time.monotonic()
    os.close(os.open(page, os.O_PATH))
    looked_up = time.monotonic()
    size = os.stat(page).st_size
    made = time.monotonic()
    assert looked_up - begin < (made - looked_up) / 2
    assert size == len(text_of(page).encode())


def test_a_page_of_all_plots_below_a_mirrored_directory(file, mount, tmp_path):
    (tmp_path / "runs" / "2024").mkdir(parents=True)
    (tmp_path / "empty").mkdir()
    shutil.copy(file, tmp_path / "runs" / "a.root")
    shutil.copy(file, tmp_path / "runs" / "2024" / "no suffix")
    os.symlink("..", tmp_path / "runs" / "up")
    (tmp_path / "runs" / "text.root").write_text("no ROOT file")
    top = mount(tmp_path).path
    links, inner = Links(), Links()
    links.feed(text_of(os.path.join(top, "index.html")))
    inner.feed(text_of(os.path.join(top, "runs", "2024", "index.html")))
    assert {"./runs/a.root/fitted/plot.svg", "./runs/2024/no suffix/below/deep %2541/h <&>/plot.svg"} <= set(links.images)
    assert len(links.images) == 2 * len(inner.images) and "./no suffix/canvas/plot.svg" in inner.images
    assert [image for image in links.images if not os.path.exists(os.path.join(top, image)) and not {"f_unknown", "deep"} & set(image.split("/"))] == []
    assert os.stat(os.path.join(top, "index.html")).st_size == len(text_of(os.path.join(top, "index.html")).encode())
    assert not os.path.exists(os.path.join(top, "empty", "index.html")), "no plot, no page"
    assert "index.html" not in os.listdir(top)
    (tmp_path / "index.html").write_text("another's")
    mounted.wait_until(lambda: text_of(os.path.join(top, "index.html")) == "another's", 10)
    assert text_of(os.path.join(top, "index.html")) == "another's"
    assert not os.path.exists(os.path.join(mount(tmp_path / "runs", "rw").path, "index.html")), "a file may get that name"
