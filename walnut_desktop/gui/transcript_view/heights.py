"""Sums of row heights that stay cheap while thousands of rows come and go: a Fenwick tree. Pure."""

from __future__ import annotations

from collections.abc import Iterable

SHORT = 64


class Heights:
    """Heights by row. Setting, summing and finding cost O(log n)."""

    def __init__(self, values: Iterable[float] = ()) -> None:
        self._values = list(values)
        self._tree: list[float] = []
        self._build()

    def _build(self) -> None:
        count = len(self._values)
        self._tree = [0.0, *self._values]
        for at in range(1, count + 1):
            above = at + (at & -at)
            if above <= count:
                self._tree[above] += self._tree[at]

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, row: int) -> float:
        return self._values[row]

    def append(self, value: float) -> None:
        """One more row at the end."""
        self._values.append(value)
        at = len(self._values)
        low = at - (at & -at)
        self._tree.append(value + self.before(at - 1) - self.before(low))

    def splice(self, start: int, stop: int, values: Iterable[float]) -> None:
        """Replace the rows `start` to `stop`. Near the end, where a chat grows, that is cheap."""
        new = list(values)
        if len(self._values) - start <= SHORT and len(new) <= SHORT:
            rest = [*new, *self._values[stop:]]
            del self._values[start:]
            del self._tree[start + 1 :]
            for value in rest:
                self.append(value)
            return
        self._values[start:stop] = new
        self._build()

    def set(self, row: int, value: float) -> None:
        """The row has another height."""
        change = value - self._values[row]
        self._values[row] = value
        at = row + 1
        while at < len(self._tree):
            self._tree[at] += change
            at += at & -at

    def before(self, row: int) -> float:
        """The sum of all rows before `row`."""
        total = 0.0
        while row > 0:
            total += self._tree[row]
            row -= row & -row
        return total

    @property
    def total(self) -> float:
        """The sum of all rows."""
        return self.before(len(self._values))

    def find(self, y: float) -> tuple[int, float]:
        """The row at height `y` and how far into it; the ends for what lies outside. (0, 0) when empty."""
        count = len(self._values)
        if not count or y <= 0:
            return 0, 0.0
        at, step = 0, 1 << count.bit_length()
        while step:
            ahead = at + step
            if ahead <= count and self._tree[ahead] <= y:
                at = ahead
                y -= self._tree[ahead]
            step >>= 1
        if at >= count:
            return count - 1, self._values[-1]
        return at, y
