"""Telling the person through the desktop (Rules G2, G11): one notice per key, with actions where it has them.

On Linux the desktop's own notification service is asked over D-Bus (D22); where there is none, the tray's
plain message is used. A notice is withdrawn when its reason has gone.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from typing import Any, Protocol

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QSystemTrayIcon

log = logging.getLogger(__name__)

Actions = tuple[tuple[str, str], ...]  # (key, label)


class Notifier(Protocol):
    """One way to show notices."""

    async def show(self, key: str, title: str, body: str, actions: Actions) -> None:
        """Show it; the same key replaces."""

    async def withdraw(self, key: str) -> None:
        """Take it away."""


class TrayNotifier:
    """The tray icon's message: no buttons, a click means the last one."""

    def __init__(self, tray: QSystemTrayIcon, activated: Callable[[str, str], None]) -> None:
        self._tray = tray
        self._activated = activated
        self._last = ""
        tray.messageClicked.connect(self._clicked)

    async def show(self, key: str, title: str, body: str, actions: Actions) -> None:
        """Show it. (Qt reports clicks of critical ones only.)"""
        self._last = key
        self._tray.showMessage(title, body, QSystemTrayIcon.MessageIcon.Critical, 10_000)

    async def withdraw(self, key: str) -> None:
        """The message goes by itself."""
        if self._last == key:
            self._last = ""

    def _clicked(self) -> None:
        if self._last:
            self._activated(self._last, "default")


class DBusNotifier:
    """The freedesktop notification service. The connection stays open: answers come back on it."""

    def __init__(self, activated: Callable[[str, str], None]) -> None:
        self._activated = activated
        self._interface: Any = None
        self._bus: Any = None
        self._ids: dict[str, int] = {}

    async def connect(self) -> bool:
        """False when there is no session bus or no such service."""
        if not sys.platform.startswith("linux"):
            return False
        try:
            from dbus_fast import DBusError
            from dbus_fast.aio import MessageBus
        except ImportError:
            return False
        try:
            self._bus = await MessageBus().connect()
            name, path = "org.freedesktop.Notifications", "/org/freedesktop/Notifications"
            about = await self._bus.introspect(name, path)
            proxy = self._bus.get_proxy_object(name, path, about)
            self._interface = proxy.get_interface(name)
        except (DBusError, OSError, ValueError, EOFError) as error:
            log.info("no notification service: %s", error)
            return False
        self._interface.on_action_invoked(self._on_action)
        self._interface.on_notification_closed(self._on_closed)
        return True

    async def show(self, key: str, title: str, body: str, actions: Actions) -> None:
        """Show it with its buttons."""
        from dbus_fast import Variant

        flat = [word for action in (("default", "Open"), *actions) for word in action]
        hints = {"desktop-entry": Variant("s", "walnut-desktop"), "urgency": Variant("y", 1)}
        self._ids[key] = await self._interface.call_notify(
            "Walnut Desktop",
            self._ids.get(key, 0),
            "walnut-desktop",
            title,
            _plain(body),
            flat,
            hints,
            -1,
        )

    async def withdraw(self, key: str) -> None:
        """Close it, if it is still there."""
        number = self._ids.pop(key, None)
        if number is not None:
            await self._interface.call_close_notification(number)

    def close(self) -> None:
        """Leave the bus."""
        if self._bus is not None:
            self._bus.disconnect()

    def _on_action(self, number: int, action: str) -> None:
        for key, known in self._ids.items():
            if known == number:
                self._activated(key, action)
                return

    def _on_closed(self, number: int, _reason: int) -> None:
        for key, known in list(self._ids.items()):
            if known == number:
                del self._ids[key]


def _plain(text: str) -> str:
    """Notification services read some markup: show what was said, not what it would mean."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


class Notices(QObject):
    """The notices that are out, and who was clicked."""

    activated = Signal(str, str)  # key, action

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._notifier: Notifier | None = None
        self._out: dict[str, str] = {}
        self.history: list[tuple[str, str]] = []

    async def set_up(self, tray: QSystemTrayIcon) -> None:
        """Find the best way."""
        service = DBusNotifier(self._on_activated)
        if await service.connect():
            self._notifier = service
        else:
            self._notifier = TrayNotifier(tray, self._on_activated)

    def use(self, notifier: Notifier) -> None:
        """Use this way (tests)."""
        self._notifier = notifier

    async def show(self, key: str, title: str, body: str, actions: Actions = ()) -> None:
        """Tell the person, once per key."""
        if key in self._out or self._notifier is None:
            return
        self._out[key] = title
        self.history.append((title, body))
        del self.history[:-200]
        await self._notifier.show(key, title, body, actions)

    async def withdraw(self, key: str) -> None:
        """Its reason has gone."""
        if self._out.pop(key, None) is not None and self._notifier is not None:
            await self._notifier.withdraw(key)

    def shown(self) -> list[str]:
        """The keys that are out."""
        return list(self._out)

    def close(self) -> None:
        """The app ends."""
        if isinstance(self._notifier, DBusNotifier):
            self._notifier.close()

    def _on_activated(self, key: str, action: str) -> None:
        self.activated.emit(key, action)
