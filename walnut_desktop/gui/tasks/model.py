"""The task list as Qt sees it: rows in display order, changed one by one (model-codebases 4.1).

Rows are frozen values held here; nothing is asked of the store while painting.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)

from walnut_desktop.domain import tree
from walnut_desktop.domain.ids import Sid, TaskId
from walnut_desktop.domain.session import Session
from walnut_desktop.domain.task import Task
from walnut_desktop.domain.tree import Row
from walnut_desktop.gui.guard import never_raises
from walnut_desktop.gui.words import task_sentence

Index = QModelIndex | QPersistentModelIndex


class Role(IntEnum):
    """What a row can be asked for."""

    ROW = Qt.ItemDataRole.UserRole + 1
    SESSION = Qt.ItemDataRole.UserRole + 2
    TASK_ID = Qt.ItemDataRole.UserRole + 3


def current_session(task: Task, sessions: Iterable[Session]) -> Session | None:
    """The session to show for a task: the one in a slot, else the newest that is not archived."""
    own = [session for session in sessions if not session.archived]
    for held in (task.exec_session_id, task.plan_session_id):
        for session in own:
            if session.sid == held:
                return session
    return max(own, key=lambda session: session.created_at, default=None)


class TaskListModel(QAbstractListModel):
    """Visible tasks in order, with depth, badges and the state of their session."""

    rename_wanted = Signal(str, str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._tasks: dict[TaskId, Task] = {}
        self._sessions: dict[TaskId, dict[Sid, Session]] = {}
        self._rows: list[Row] = []
        self._places: dict[TaskId, int] = {}
        self._show_done = False
        self._collapsed: set[TaskId] = set()

    # -- what it is told ----------------------------------------------------------------------------

    def load(self, tasks: Iterable[Task], sessions: Iterable[Session]) -> None:
        """Everything, at the start."""
        self.beginResetModel()
        self._tasks = {task.id: task for task in tasks}
        self._sessions = {}
        for session in sessions:
            if session.task_id is not None:
                self._sessions.setdefault(session.task_id, {})[session.sid] = session
        self._rows = self._ordered()
        self._index()
        self.endResetModel()

    def put(self, task: Task) -> None:
        """A task was made or changed."""
        before = self._tasks.get(task.id)
        self._tasks[task.id] = task
        if before is not None and _same_place(before, task) and task.id in self._places:
            place = self._places[task.id]
            self._rows[place] = self._rows[place]._replace(task=task)
            self._touch(place)
        else:
            self._reorder()

    def drop(self, task_id: TaskId) -> None:
        """A task is gone."""
        if self._tasks.pop(task_id, None) is not None:
            self._reorder()

    def put_session(self, session: Session) -> None:
        """A session was made or changed."""
        if session.task_id is None:
            return
        self._sessions.setdefault(session.task_id, {})[session.sid] = session
        if session.task_id in self._places:
            self._touch(self._places[session.task_id])

    def drop_session(self, sid: Sid) -> None:
        """A session never came to be."""
        for task_id, sessions in self._sessions.items():
            if sessions.pop(sid, None) is not None and task_id in self._places:
                self._touch(self._places[task_id])

    def set_show_done(self, *, show: bool) -> None:
        """Show or hide what is done."""
        self._show_done = show
        self._reorder()

    def toggle_collapsed(self, task_id: TaskId) -> None:
        """Fold the children of a task away, or show them again."""
        self._collapsed ^= {task_id}
        self._reorder()
        if task_id in self._places:
            self._touch(self._places[task_id])

    def is_collapsed(self, task_id: TaskId) -> bool:
        """Whether the children of a task are folded away."""
        return task_id in self._collapsed

    # -- what it is asked ---------------------------------------------------------------------------

    def task(self, task_id: TaskId) -> Task | None:
        """The task as last told."""
        return self._tasks.get(task_id)

    def sessions(self, task_id: TaskId) -> list[Session]:
        """The sessions of a task, oldest first."""
        found = self._sessions.get(task_id, {}).values()
        return sorted(found, key=lambda session: session.created_at)

    def session(self, task_id: TaskId) -> Session | None:
        """The session to show for a task."""
        task = self._tasks.get(task_id)
        return current_session(task, self.sessions(task_id)) if task else None

    def waiting(self) -> list[Task]:
        """The tasks that wait for the person, the longest first: a red dot, or an open request."""
        asking = {
            task_id
            for task_id, sessions in self._sessions.items()
            if any(session.pending and not session.archived for session in sessions.values())
        }
        found = [
            task
            for task in self._tasks.values()
            if (task.needs_attention or task.id in asking) and not task.is_done
        ]
        return sorted(found, key=lambda task: task.updated_at)

    def working(self) -> int:
        """How many sessions are at work."""
        return sum(
            1
            for sessions in self._sessions.values()
            for session in sessions.values()
            if session.is_busy and not session.pending
        )

    def living(self) -> int:
        """How many sessions have a process."""
        return sum(
            1
            for sessions in self._sessions.values()
            for session in sessions.values()
            if session.is_alive
        )

    def total(self) -> int:
        """How many tasks there are, shown or not."""
        return len(self._tasks)

    def place(self, task_id: TaskId) -> QModelIndex:
        """The index of a task, invalid when it is not shown."""
        number = self._places.get(task_id)
        return self.index(number, 0) if number is not None else QModelIndex()

    # -- Qt -----------------------------------------------------------------------------------------

    @never_raises(0)
    def rowCount(self, parent: Index | None = None) -> int:
        """How many rows are shown."""
        return 0 if parent is not None and parent.isValid() else len(self._rows)

    @never_raises(None)
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """One thing of one row."""
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        row = self._rows[index.row()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            return row.task.title
        if role == Role.ROW:
            return row
        if role == Role.TASK_ID:
            return row.task.id
        if role == Role.SESSION:
            return self.session(row.task.id)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return task_sentence(row, self.session(row.task.id))
        if role == Qt.ItemDataRole.ToolTipRole:
            return _tooltip(row)
        return None

    @never_raises(Qt.ItemFlag.NoItemFlags)
    def flags(self, index: Index) -> Qt.ItemFlag:
        """Every row can be chosen and renamed."""
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsEditable

    @never_raises(False)
    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """A new title was typed: it is asked for, and shows when it is stored."""
        title = str(value).strip()
        row = self._rows[index.row()]
        if role != Qt.ItemDataRole.EditRole or not title or title == row.task.title:
            return False
        self.rename_wanted.emit(row.task.id, title)
        return True

    # -- order --------------------------------------------------------------------------------------

    def _ordered(self) -> list[Row]:
        shown = [task for task in self._tasks.values() if self._show_done or not task.is_done]
        rows = tree.display_order(shown)
        counts = _children(self._tasks.values())
        if not counts and not self._collapsed:
            return rows
        out: list[Row] = []
        hidden_below: int | None = None
        for row in rows:
            if hidden_below is not None and row.depth > hidden_below:
                continue
            hidden_below = row.depth if row.task.id in self._collapsed else None
            children, still_open = counts.get(row.task.id, (0, 0))
            if (children, still_open) != (row.children, row.open_children):
                row = row._replace(children=children, open_children=still_open)
            out.append(row)
        return out

    def _index(self) -> None:
        self._places = {row.task.id: number for number, row in enumerate(self._rows)}

    def _reorder(self) -> None:
        """Go to the new order with as few changes as the view needs to keep its selection."""
        new = self._ordered()
        wanted = {row.task.id for row in new}
        for number in range(len(self._rows) - 1, -1, -1):
            if self._rows[number].task.id not in wanted:
                self.beginRemoveRows(QModelIndex(), number, number)
                del self._rows[number]
                self.endRemoveRows()
        have = [row.task.id for row in self._rows]
        if [row.task.id for row in new if row.task.id in set(have)] != have:
            self.layoutAboutToBeChanged.emit()
            old_places = {row.task.id: number for number, row in enumerate(self._rows)}
            order = {row.task.id: number for number, row in enumerate(new)}
            self._rows.sort(key=lambda row: order[row.task.id])
            self._index()
            for index in self.persistentIndexList():
                task_id = next(key for key, at in old_places.items() if at == index.row())
                self.changePersistentIndex(index, self.index(self._places[task_id], 0))
            self.layoutChanged.emit()
        for number, row in enumerate(new):
            if number >= len(self._rows) or self._rows[number].task.id != row.task.id:
                self.beginInsertRows(QModelIndex(), number, number)
                self._rows.insert(number, row)
                self.endInsertRows()
            elif self._rows[number] != row:
                self._rows[number] = row
                self._touch(number)
        self._index()

    def _touch(self, number: int) -> None:
        index = self.index(number, 0)
        self.dataChanged.emit(index, index)


def _same_place(before: Task, after: Task) -> bool:
    return (
        before.parent_id == after.parent_id
        and before.position == after.position
        and before.is_done == after.is_done
        and before.is_hidden == after.is_hidden
    )


def _children(tasks: Iterable[Task]) -> dict[TaskId, tuple[int, int]]:
    counts: dict[TaskId, tuple[int, int]] = {}
    for task in tasks:
        if task.parent_id is not None and not task.is_hidden:
            every, still_open = counts.get(task.parent_id, (0, 0))
            counts[task.parent_id] = (every + 1, still_open + (not task.is_done))
    return counts


def _tooltip(row: Row) -> str | None:
    if not row.children:
        return None
    return f"{row.children} subtask{'s' if row.children != 1 else ''}, {row.open_children} open"
