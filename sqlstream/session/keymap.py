"""The keys of the prompt as data: HELP KEYS lists them, the prompt binds those that have an action."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Binding:
    """Keys one after the other, in prompt-toolkit's names. ``mode``: where they mean it; everywhere if empty."""

    keys: tuple[str, ...]
    mode: str = ""


@dataclass(frozen=True)
class Key:
    """What a user presses and what it does. ``action`` names what the prompt does; without one it is prompt-toolkit's own."""

    shown: str
    does: str
    action: str = ""
    bindings: tuple[Binding, ...] = ()


KEYS = (
    Key("Enter", "Runs what is typed if it ends with ';', otherwise starts a line with the same indentation. In a menu: accepts the chosen entry.",
        "enter", (Binding(("enter",)),)),
    Key("F5, Meta-Enter", "Runs only the statement under the cursor, if there are several; all of them stay in the prompt.",
        "run_statement", (Binding(("f5",)), Binding(("escape", "enter")))),
    Key("Tab, Shift-Tab", "Opens the menu of completions and moves through it; at the start of a further line indents it, or undoes that.",
        "indent", (Binding(("tab",), "margin"),)),
    Key("", "", "unindent", (Binding(("s-tab",), "margin"),)),
    Key("Right, Ctrl-E", "Accepts the grey rest, which is from the history; Meta-F accepts a word of it."),
    Key("Up, Down", "Go through the lines, then through the history, whole statements at a time; so do Ctrl-P and Ctrl-N."),
    Key("Ctrl-R", "Searches the history; again for an older match, Enter to accept it."),
    Key("Ctrl-X Ctrl-E", "Opens what is typed in $VISUAL or $EDITOR; Enter runs what comes back. In vi mode: v.",
        "open_editor", (Binding(("c-x", "c-e"), "emacs"), Binding(("v",), "vi"))),
    Key("F4", "Changes between emacs and vi keys, as SET 'sql-client.edit-mode' does.", "change_mode", (Binding(("f4",)),)),
    Key("Ctrl-C", "Discards what is typed; ends the statement that is running."),
    Key("Ctrl-D", "Ends the shell."),
)  # fmt: skip
