# SPDX-License-Identifier: Apache-2.0
"""Cuts: conditions in NumPy's spelling, as text. Only what is listed here is evaluated; nothing of it is run as Python."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable
from typing import Any

from ._error import missing

_OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod, ast.Pow: operator.pow, ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor,
    ast.LShift: operator.lshift, ast.RShift: operator.rshift, ast.And: operator.and_, ast.Or: operator.or_,
    ast.Invert: operator.invert, ast.Not: operator.invert, ast.USub: operator.neg, ast.UAdd: operator.pos,
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
}
_ELEMENTWISE = {
    "abs", "sqrt", "exp", "log", "log10", "log2", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "arctan2", "sinh", "cosh", "tanh",
    "hypot", "minimum", "maximum", "floor", "ceil", "isnan", "isfinite", "isinf", "logical_and", "logical_or", "logical_not",
}
_OF_LISTS = {"any", "all", "sum", "min", "max", "count", "num"}
_LIBRARIES = {"np", "numpy", "ak", "awkward", "math"}
_INTEGER_MAX = 2**63 - 1


class Cut:
    """A condition on columns. `columns`: the names of those that it needs."""

    def __init__(self, text: str, there: Iterable[str]) -> None:
        if not isinstance(text, str):
            raise TypeError(f"a cut is a text, as 'x > 1', and no {type(text).__name__}")
        self.text, self._there = text, set(there)
        self.columns: list[str] = []
        try:
            self._condition = ast.parse(text.strip(), mode="eval").body
            self._check(self._condition)
        except (SyntaxError, RecursionError, MemoryError) as error:
            raise self._refused(str(error)) from None

    def _refused(self, why: str) -> ValueError:
        return ValueError(f"the cut {self.text!r}: {why}")

    def _check(self, node: ast.AST) -> None:
        """Notes the columns, and refuses what is not evaluated, before anything is read."""
        if isinstance(node, ast.Name):
            if node.id not in self._there:
                raise missing(node.id, sorted(self._there))
            if node.id not in self.columns:
                self.columns.append(node.id)
            return
        if isinstance(node, ast.Call):
            self._function(node.func)
            axes = [each for each in node.keywords if each.arg == "axis"]
            if axes != node.keywords or any(isinstance(each, ast.Starred) for each in node.args):
                raise self._refused("of named arguments, functions take axis= alone")
            parts: list[ast.AST] = [*node.args, *(each.value for each in axes)]
        elif isinstance(node, ast.Attribute):
            parts = [node.value]
        elif isinstance(node, ast.Constant):
            if isinstance(node.value, int) and abs(node.value) > _INTEGER_MAX or not isinstance(node.value, (int, float, str)):
                raise self._refused(f"{node.value!r} is no number, and no text")
            parts = []
        elif isinstance(node, (ast.BinOp, ast.BoolOp, ast.UnaryOp, ast.Compare)):
            operators = node.ops if isinstance(node, ast.Compare) else [node.op]
            if unknown := [each for each in operators if type(each) not in _OPERATORS]:
                raise self._refused(f"the operator {type(unknown[0]).__name__} is not known")
            parts = [each for each in ast.iter_child_nodes(node) if isinstance(each, ast.expr)]
        elif isinstance(node, (ast.Subscript, ast.Slice, ast.Tuple)):
            parts = [each for each in ast.iter_child_nodes(node) if isinstance(each, ast.expr)]
        else:
            raise self._refused(f"it has {type(node).__name__}; there are columns, numbers, texts, operators, functions, x[1:3], x.y")
        for part in parts:
            self._check(part)

    def _function(self, node: ast.AST) -> str:
        """Its name: `abs`, `np.abs`."""
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in _LIBRARIES:
            name = node.attr
        else:
            name = node.id if isinstance(node, ast.Name) else ""
        if name not in _ELEMENTWISE | _OF_LISTS:
            raise self._refused(f"the function {ast.unparse(node)} is not known; there are {', '.join(sorted(_ELEMENTWISE | _OF_LISTS))}")
        return name

    def mask(self, columns: dict[str, Any], entries: int) -> Any:
        """For each entry whether it fulfils the condition: an array of NumPy. ValueError if that is not what it says."""
        import numpy as np

        try:
            kept = np.asarray(self._value(self._condition, columns))
        except (TypeError, IndexError, OverflowError, ZeroDivisionError) as error:
            raise self._refused(str(error)) from None
        except ValueError as error:
            raise self._refused(f"{error} (for a condition on lists: any(...), all(...))") from None
        if kept.shape != (entries,) or kept.dtype != bool:
            raise self._refused("it is not one truth for each entry; of lists any(...), all(...), num(...) give one")
        return kept

    def _value(self, node: ast.AST, columns: dict[str, Any]) -> Any:
        def of(part: ast.AST) -> Any:
            return self._value(part, columns)

        if isinstance(node, ast.Name):
            return columns[node.id]
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Attribute):
            return of(node.value)[node.attr]
        if isinstance(node, ast.Call):
            return _called(self._function(node.func), [of(each) for each in node.args], {"axis": of(each.value) for each in node.keywords})
        if isinstance(node, ast.Compare):
            values = [of(node.left), *(of(each) for each in node.comparators)]
            return _joined(ast.And(), [_decided(_applied(each, *pair)) for each, pair in zip(node.ops, zip(values, values[1:]))])
        if isinstance(node, ast.BoolOp):
            return _joined(node.op, [of(each) for each in node.values])
        if isinstance(node, ast.BinOp):
            return _applied(node.op, of(node.left), of(node.right))
        if isinstance(node, ast.UnaryOp):
            return _applied(node.op, of(node.operand))
        if isinstance(node, ast.Subscript):
            return of(node.value)[of(node.slice)]
        if isinstance(node, ast.Tuple):
            return tuple(of(each) for each in node.elts)
        assert isinstance(node, ast.Slice)
        return slice(*(None if each is None else of(each) for each in (node.lower, node.upper, node.step)))


def _joined(kind: ast.AST, values: list[Any]) -> Any:
    result = values[0]
    for each in values[1:]:
        result = _applied(kind, result, each)
    return result


def _decided(truths: Any) -> Any:
    """What is compared with nothing, as the maximum of an empty list, does not fulfil a condition."""
    if not type(truths).__module__.startswith("awkward"):
        return truths
    import awkward as ak

    return ak.fill_none(truths, False)


def _applied(kind: ast.AST, *values: Any) -> Any:
    if all(isinstance(each, (bool, int, float)) for each in values):
        return _of_plain_numbers(kind, *values)
    if isinstance(kind, (ast.Mod, ast.Mult)) and any(isinstance(each, str) for each in values):
        raise TypeError("texts are compared, and nothing else")
    return _OPERATORS[type(kind)](*values)


def _of_plain_numbers(kind: ast.AST, *values: Any) -> Any:
    """OverflowError for integers of more than 8 bytes: NumPy's arithmetic turns 10**40 into another number, and of Python's
    9**9**9 has no end."""
    import numpy as np

    operation = _OPERATORS[type(kind)]
    if len(values) == 1 or isinstance(kind, (ast.Div, ast.FloorDiv, ast.Mod)) or any(type(each) is not int for each in values):
        with np.errstate(all="ignore"):
            return operation(*(np.asarray(each)[()] for each in values)).item()
    first, second = values
    is_long = second > 63 and (isinstance(kind, ast.Pow) and abs(first) > 1 or isinstance(kind, ast.LShift) and first != 0)
    result = None if is_long else operation(first, second)
    if result is None or abs(result) > _INTEGER_MAX:
        raise OverflowError("an integer in it has more than 8 bytes; numbers as 1e40 may be as large")
    return result


def _called(name: str, arguments: list[Any], named: dict[str, Any]) -> Any:
    if name in _ELEMENTWISE:
        import numpy as np

        return getattr(np, name)(*arguments)
    import awkward as ak

    return getattr(ak, name)(*arguments, **{"axis": 1, **named})
