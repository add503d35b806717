# SPDX-License-Identifier: Apache-2.0
"""Columns of variants, as writing.py has columns of numbers: `choice`, and lists of them, `parts`. For the readers each
is a text for each entry, which says what is held."""

import numpy


def _choice(number):
    return [int(number), "text " * (number % 3), [number * 0.25] * (number % 4)][number * 5 % 7 % 3]


def _part(number):
    return number * 0.5 if number % 3 else f"part {number}"


def _choices(entries):
    return [_choice(entry) for entry in range(entries)]


def _part_counts(entries):
    return numpy.arange(entries, dtype="<i8") % 4


def _parts(entries):
    counts = _part_counts(entries)
    return [_part(number) for number in range(int(counts.sum()))]


def text_of(value):
    """Of what one variant holds, or of a list."""
    if isinstance(value, list):
        return "[" + "".join(text_of(item) + " " for item in value) + "]"
    return f"{value:g}" if isinstance(value, float) else f'"{value}"' if isinstance(value, str) else str(value)


def _as_texts(values):
    texts = [text_of(value).encode() for value in values]
    return numpy.frombuffer(b"".join(texts), "u1"), numpy.array([len(text) for text in texts], "<i8")


def choice(entries):
    return _as_texts(_choices(entries))


def parts(entries):
    ends = numpy.concatenate([[0], numpy.cumsum(_part_counts(entries))])
    values = _parts(entries)
    return _as_texts([values[first:last] for first, last in zip(ends, ends[1:])])


def _listed_files(folder, values, items):
    """The files of lists or strings."""
    offsets = numpy.cumsum([0, *map(len, items)]).astype("<i8")
    if values == "chars.u1":
        return {f"{folder}/offsets.i8": offsets, f"{folder}/chars.u1": numpy.frombuffer("".join(items).encode(), "u1")}
    return {f"{folder}/offsets.i8": offsets, f"{folder}/{values}": numpy.array(sum(items, []), values[-2:])}


def _variant_files(folder, values, kinds):
    """The whole files of variants. `kinds`: for each type the function that makes the files of its values."""
    tags = numpy.array([1 + list(kinds).index(type(value)) for value in values], "i1")
    index = numpy.zeros(len(values), "<i8")
    found = {f"{folder}/tags.i1": tags, f"{folder}/index.i8": index}
    for tag, (kind, files) in enumerate(kinds.items(), 1):
        held = [value for value in values if type(value) is kind]
        index[tags == tag] = numpy.arange(len(held))
        found |= {f"{folder}/{file}": content for file, content in files(held).items()}
    return found


def choice_files(entries):
    return _variant_files("choice", _choices(entries), {
        int: lambda held: {"std::int32_t.i4": numpy.array(held, "<i4")},
        str: lambda held: _listed_files("std::string", "chars.u1", held),
        list: lambda held: _listed_files("std::vector<float>", "values.f4", held),
    })


def part_files(entries):
    offsets = numpy.concatenate([[0], numpy.cumsum(_part_counts(entries))]).astype("<i8")
    return {"parts/offsets.i8": offsets} | _variant_files("parts/values", _parts(entries), {
        float: lambda held: {"double.f8": numpy.array(held, "<f8")},
        str: lambda held: _listed_files("std::string", "chars.u1", held),
    })
