"""The task panel: add, choose, rename, complete, delete a task, by mouse or by keyboard alone (Rule G1)."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence, QMouseEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListView,
    QMenu,
    QStackedLayout,
    QVBoxLayout,
    QWidget,
)

from walnut_desktop.domain.ids import TaskId
from walnut_desktop.domain.tree import Row
from walnut_desktop.gui.guard import never_raises
from walnut_desktop.gui.tasks.delegate import TaskDelegate, places
from walnut_desktop.gui.tasks.model import Role, TaskListModel
from walnut_desktop.gui.theme import Theme
from walnut_desktop.gui.words import counts_line


class TaskView(QListView):
    """The list. A click on a row's mark completes the task; keys do the rest."""

    mark_clicked = Signal(str)
    open_wanted = Signal()
    complete_wanted = Signal()
    delete_wanted = Signal()
    fold_wanted = Signal(bool)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("taskList")
        self.setAccessibleName("Tasks")
        self.setUniformItemSizes(True)
        self.setMouseTracking(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setEditTriggers(QAbstractItemView.EditTrigger.EditKeyPressed)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)

    @never_raises(None)
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """A click on the mark completes; anywhere else it chooses."""
        index = self.indexAt(event.position().toPoint())
        row = index.data(Role.ROW) if index.isValid() else None
        if isinstance(row, Row) and event.button() == Qt.MouseButton.LeftButton:
            place = places(self.visualRect(index), row.depth, self.fontMetrics())
            if place.mark.adjusted(-5, -5, 5, 5).contains(event.position()):
                self.mark_clicked.emit(row.task.id)
                event.accept()
                return
        super().mouseReleaseEvent(event)

    @never_raises(None)
    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter opens, Space completes, Delete deletes, Left and Right fold."""
        key = event.key()
        if self.state() == QAbstractItemView.State.EditingState:
            super().keyPressEvent(event)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.open_wanted.emit()
        elif key == Qt.Key.Key_Space:
            self.complete_wanted.emit()
        elif key == Qt.Key.Key_Delete:
            self.delete_wanted.emit()
        elif key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            self.fold_wanted.emit(key == Qt.Key.Key_Left)
        else:
            super().keyPressEvent(event)


class TaskPanel(QWidget):
    """Everything on the left. Wishes go out as signals; what comes of them comes back through the model."""

    task_chosen = Signal(str)
    open_wanted = Signal()
    add_wanted = Signal(str, str)  # title, parent or ""
    toggle_wanted = Signal(str)
    delete_wanted = Signal(str)

    def __init__(self, model: TaskListModel, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("taskPanel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._model = model
        self._parent_id = ""
        self.add_line = QLineEdit(self)
        self.add_line.setObjectName("addTask")
        self.add_line.setAccessibleName("Add a task")
        self.add_line.setMaxLength(2000)
        self.view = TaskView(self)
        self.delegate = TaskDelegate(self.view)
        self.view.setItemDelegate(self.delegate)
        self.view.setModel(model)
        self.counts = QLabel(self)
        self.counts.setProperty("class", "muted small")
        self.show_done = QCheckBox("Show done", self)
        self.show_done.setObjectName("showDone")
        self.empty = QLabel("No tasks yet.\nType one above and press Enter.", self)
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.empty.setProperty("class", "muted")
        self._menu = QMenu(self)
        self._lay_out()
        self._connect()
        self._set_parent("")
        self.refresh_counts()

    def _lay_out(self) -> None:
        title = QLabel("Tasks", self)
        title.setProperty("class", "heading")
        head = QHBoxLayout()
        head.addWidget(title)
        head.addStretch(1)
        head.addWidget(self.counts)
        self._stack = QStackedLayout()
        self._stack.addWidget(self.view)
        self._stack.addWidget(self.empty)
        foot = QHBoxLayout()
        foot.addWidget(self.show_done)
        foot.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 14, 0, 10)
        column.setSpacing(10)
        for layout in (head, foot):
            layout.setContentsMargins(16, 0, 16, 0)
        line = QHBoxLayout()
        line.setContentsMargins(12, 0, 12, 0)
        line.addWidget(self.add_line)
        column.addLayout(head)
        column.addLayout(line)
        column.addLayout(self._stack, 1)
        column.addLayout(foot)

    def _connect(self) -> None:
        self.add_line.returnPressed.connect(self._add)
        self.view.selectionModel().currentChanged.connect(self._chosen)
        self.view.open_wanted.connect(self.open_wanted)
        self.view.mark_clicked.connect(self.toggle_wanted)
        self.view.complete_wanted.connect(self._complete)
        self.view.delete_wanted.connect(self._delete)
        self.view.fold_wanted.connect(self._fold)
        self.view.customContextMenuRequested.connect(self._show_menu)
        self.show_done.toggled.connect(self._set_show_done)
        for signal in (
            self._model.modelReset,
            self._model.rowsInserted,
            self._model.rowsRemoved,
            self._model.dataChanged,
        ):
            signal.connect(self.refresh_counts)

    def set_theme(self, theme: Theme) -> None:
        """Paint in these colours."""
        self.delegate.set_theme(theme)
        self.view.viewport().update()

    def refresh_counts(self) -> None:
        """The small line above the list, and the words for an empty one."""
        waiting, working = len(self._model.waiting()), self._model.working()
        self.counts.setText(counts_line(waiting, working) if waiting or working else "")
        if self._model.rowCount():
            self._stack.setCurrentWidget(self.view)
        else:
            done = self._model.total() > 0
            self.empty.setText(
                "Everything is done." if done else "No tasks yet.\nType one above and press Enter."
            )
            self._stack.setCurrentWidget(self.empty)

    def current_id(self) -> TaskId | None:
        """The chosen task."""
        index = self.view.currentIndex()
        return index.data(Role.TASK_ID) if index.isValid() else None

    def choose(self, task_id: TaskId) -> None:
        """Choose a task by its id."""
        index = self._model.place(task_id)
        if index.isValid():
            self.view.setCurrentIndex(index)
            self.view.scrollTo(index)

    def start_adding(self, *, below: bool) -> None:
        """Put the keyboard into the add line; `below` adds a subtask of the chosen task."""
        self._set_parent(self.current_id() or "" if below else "")
        self.add_line.setFocus()

    def rename_current(self) -> None:
        """Edit the title of the chosen task in its place."""
        if self.view.currentIndex().isValid():
            self.view.edit(self.view.currentIndex())

    def _set_parent(self, task_id: str) -> None:
        self._parent_id = task_id
        task = self._model.task(TaskId(task_id)) if task_id else None
        if task is None:
            self.add_line.setPlaceholderText("Add a task…")
        else:
            title = task.title if len(task.title) <= 30 else task.title[:29] + "…"
            self.add_line.setPlaceholderText(f"Add a subtask to “{title}”…")

    def _add(self) -> None:
        title = self.add_line.text().strip()
        if title:
            self.add_wanted.emit(title, self._parent_id)

    def added(self) -> None:
        """The task is stored: room for the next."""
        self.add_line.clear()
        self._set_parent("")

    def _chosen(self, index: QModelIndex, _before: QModelIndex) -> None:
        task_id = index.data(Role.TASK_ID) if index.isValid() else ""
        self.task_chosen.emit(task_id or "")

    def _complete(self) -> None:
        task_id = self.current_id()
        if task_id:
            self.toggle_wanted.emit(task_id)

    def _delete(self) -> None:
        task_id = self.current_id()
        if task_id:
            self.delete_wanted.emit(task_id)

    def _fold(self, close: bool) -> None:
        task_id = self.current_id()
        if task_id is not None and self._model.is_collapsed(task_id) != close:
            self._model.toggle_collapsed(task_id)

    def _set_show_done(self, show: bool) -> None:
        self._model.set_show_done(show=show)
        self.refresh_counts()

    def _show_menu(self, point: QPoint) -> None:
        index = self.view.indexAt(point)
        if not index.isValid():
            return
        self.view.setCurrentIndex(index)
        row = index.data(Role.ROW)
        done = isinstance(row, Row) and row.task.is_done
        self._menu.clear()
        self._item("Open", self.open_wanted.emit, "Return")
        self._item("Rename", self.rename_current, "F2")
        self._item("Add a subtask", self._add_below, "Ctrl+Shift+N")
        self._item("Open again" if done else "Complete", self._complete, "Space")
        self._menu.addSeparator()
        self._item("Delete…", self._delete, "Del")
        self._menu.popup(self.view.viewport().mapToGlobal(point))

    def _add_below(self) -> None:
        self.start_adding(below=True)

    def _item(self, text: str, slot: object, keys: str) -> None:
        action = QAction(text, self._menu)
        action.setShortcut(QKeySequence(keys))
        action.setShortcutVisibleInContextMenu(True)
        # The keys are shown for learning; the list itself acts on them.
        action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        action.triggered.connect(slot)
        self._menu.addAction(action)
