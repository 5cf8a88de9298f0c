"""What an agent waits for, as a card above the composer (Rule G10): the newest facts, and clear answers.

*Always* says where the rule will be written, before it is pressed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QTextOption
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from walnut_desktop.domain.session import PendingRequest

MAX_LINES = 8

_VERBS = {
    "Bash": "run a command",
    "Write": "write a file",
    "Edit": "change a file",
    "MultiEdit": "change a file",
    "NotebookEdit": "change a notebook",
    "WebFetch": "open a web page",
    "WebSearch": "search the web",
    "Read": "read a file",
    "ExitPlanMode": "carry out its plan",
    "AskUserQuestion": "ask you something",
}


def headline(request: PendingRequest) -> str:
    """What the agent wants, as a sentence."""
    verb = _VERBS.get(request.tool_name)
    who = "A sub-agent" if request.agent_id else "The agent"
    if verb is None:
        return f"{who} wants to use {request.tool_name}"
    return f"{who} wants to {verb}"


def subject(request: PendingRequest) -> str:
    """What exactly it is about: the command, the path and the text, the plan, the question."""
    tool_input = request.tool_input
    if request.tool_name == "Bash":
        return str(tool_input.get("command") or "")
    if request.kind == "plan":
        return str(tool_input.get("plan") or "The agent has written no plan.")
    if request.kind == "question":
        return "\n\n".join(_questions(tool_input))
    path = tool_input.get("file_path") or tool_input.get("notebook_path")
    if path:
        body = tool_input.get("content") or tool_input.get("new_string") or ""
        return f"{path}\n\n{body}".rstrip()
    return json.dumps(dict(tool_input), indent=2, ensure_ascii=False)


def _questions(tool_input: Mapping[str, Any]) -> list[str]:
    texts = []
    for question in tool_input.get("questions") or []:
        options = "\n".join(
            f"  •  {option.get('label')}" for option in question.get("options") or []
        )
        texts.append(f"{question.get('question')}\n{options}".rstrip())
    return texts


def always_words(request: PendingRequest) -> str:
    """What “always allow” means and where it is written; empty when the agent suggests nothing."""
    rules = [item for item in request.suggestions if item.get("type") == "addRules"]
    if rules:
        named = ", ".join(_rule(rule) for rule in rules[0].get("rules") or [])
        place = _PLACES.get(str(rules[0].get("destination")), str(rules[0].get("destination")))
        return f"“Always allow” writes the rule {named} into {place}."
    first = request.suggestions[0] if request.suggestions else {}
    if first.get("type") == "setMode":
        meaning = _MODES.get(str(first.get("mode")), f"switches to the mode {first.get('mode')}")
        return f"“Always allow” {meaning}, in this session only."
    return ""


def _rule(rule: Mapping[str, Any]) -> str:
    content = str(rule.get("ruleContent") or "")
    shown = content if len(content) <= 60 else content[:59] + "…"
    return f"{rule.get('toolName')}({shown})" if content else str(rule.get("toolName"))


_PLACES = {
    "localSettings": "this folder’s .claude/settings.local.json",
    "projectSettings": "this folder’s .claude/settings.json",
    "userSettings": "your own settings, for every folder",
    "session": "the memory of this session",
}

_MODES = {
    "acceptEdits": "lets the agent edit files without asking",
    "bypassPermissions": "lets the agent do everything without asking",
    "plan": "makes the agent plan first",
}


class RequestCard(QFrame):
    """One request with its answers: allow, always, deny (with a word)."""

    allowed = Signal(str, bool)  # request id, always
    denied = Signal(str, str)  # request id, a word for the agent
    replied = Signal(str, object)  # request id, the changed input

    def __init__(self, request: PendingRequest, more: int, parent: QWidget) -> None:
        super().__init__(parent)
        self.request = request
        self.setObjectName("requestCard")
        self.setProperty("class", "card attention")
        self.setAccessibleName(headline(request))
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 16, 12)
        column.setSpacing(8)
        column.addWidget(self._title(more))
        column.addWidget(self._subject())
        self.allow = self._button("Allow", "allow", "primary")
        self.always = self._button("Always allow", "always", "")
        self.deny = self._button("Deny", "deny", "danger")
        self._answer = QLineEdit(self)
        self._answer.setAccessibleName("A word for the agent")
        self._answer.setPlaceholderText("A word for the agent, if you deny (optional)")
        self._shape(column)
        self.allow.clicked.connect(self._on_allow)
        self.always.clicked.connect(self._on_always)
        self.deny.clicked.connect(self._on_deny)
        self._answer.returnPressed.connect(self._on_return)

    def _title(self, more: int) -> QLabel:
        text = headline(self.request)
        if more:
            text += f"  ·  {more} more waiting"
        label = QLabel(text, self)
        label.setProperty("class", "title")
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setWordWrap(True)
        return label

    def _subject(self) -> QPlainTextEdit:
        box = QPlainTextEdit(self)
        box.setProperty("class", "code")
        box.setReadOnly(True)
        box.setTabChangesFocus(True)
        box.setAccessibleName("What it is about")
        box.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        text = subject(self.request)
        box.setPlainText(text if len(text) <= 20_000 else text[:20_000] + "\n…")
        lines = min(MAX_LINES, max(1, text.count("\n") + 1 + len(text) // 90))
        box.setFixedHeight(box.fontMetrics().lineSpacing() * lines + 24)
        return box

    def _button(self, text: str, name: str, kind: str) -> QPushButton:
        button = QPushButton(text, self)
        button.setObjectName(name)
        if kind:
            button.setProperty("class", kind)
        button.setAutoDefault(True)
        return button

    def _shape(self, column: QVBoxLayout) -> None:
        words = always_words(self.request)
        self.always.setVisible(bool(words) and self.request.kind == "permission")
        self.always.setToolTip(words)
        if words and self.request.kind == "permission":
            hint = QLabel(words, self)
            hint.setProperty("class", "muted small")
            hint.setTextFormat(Qt.TextFormat.PlainText)
            hint.setWordWrap(True)
            column.addWidget(hint)
        if self.request.kind == "question":
            self.allow.setText("Answer")
            self.deny.setText("Don’t answer")
            self._answer.setPlaceholderText("Your answer")
        elif self.request.kind == "plan":
            self.allow.setText("Approve the plan")
            self.deny.setText("Send back")
            self._answer.setPlaceholderText("What should be different? (optional)")
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self._answer, 1)
        row.addWidget(self.deny)
        row.addWidget(self.always)
        row.addWidget(self.allow)
        column.addLayout(row)

    def focus_first(self) -> None:
        """Put the keyboard on the safest useful place."""
        (self._answer if self.request.kind == "question" else self.allow).setFocus()

    def set_waiting(self) -> None:
        """An answer is on its way: it can't be given twice."""
        for widget in (self.allow, self.always, self.deny, self._answer):
            widget.setEnabled(False)

    def set_ready(self) -> None:
        """The answer did not get there: it can be given again."""
        for widget in (self.allow, self.always, self.deny, self._answer):
            widget.setEnabled(True)

    def _on_allow(self) -> None:
        self.set_waiting()
        if self.request.kind == "question":
            self.replied.emit(self.request.request_id, self._answers())
        else:
            self.allowed.emit(self.request.request_id, False)

    def _on_always(self) -> None:
        self.set_waiting()
        self.allowed.emit(self.request.request_id, True)

    def _on_deny(self) -> None:
        self.set_waiting()
        self.denied.emit(self.request.request_id, self._answer.text())

    def _on_return(self) -> None:
        if self.request.kind == "question":
            self._on_allow()
        else:
            self._on_deny()

    def _answers(self) -> dict[str, Any]:
        """The questions with the typed answer to each (cli-protocol 6.4: free text is allowed)."""
        questions = self.request.tool_input.get("questions") or []
        text = self._answer.text().strip()
        answers = {str(question.get("question")): text for question in questions} if text else {}
        return {**self.request.tool_input, "answers": answers}
