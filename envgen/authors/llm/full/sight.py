"""What an agent can see of an environment, as text for a prompt."""

from envgen.files import FileTree

TEXT_CHARS, ALL_CHARS = 6000, 30_000
"""Of one file, and of all files together, that are shown."""
MOST_LISTED = 200


def listing(files: FileTree) -> list[str]:
    """One line a file: mode, bytes, absolute path."""
    lines = [f"{file.mode:04o} {len(file.data):8} /{path}" for path, file in files.items()]
    if len(lines) > MOST_LISTED:
        lines[MOST_LISTED:] = [f"and {len(lines) - MOST_LISTED} more"]
    return lines


def texts(files: FileTree) -> list[tuple[str, str]]:
    """Absolute path and text of each text file, the smallest first; long ones are cut."""
    found, left = [], ALL_CHARS
    for path, file in sorted(files.items(), key=lambda item: (len(item[1].data), item[0])):
        try:
            text = file.data.decode()
        except UnicodeDecodeError:
            continue
        if "\0" in text:
            continue
        if len(text) > min(TEXT_CHARS, left):
            text = text[: min(TEXT_CHARS, left)] + "\n[the rest is not shown]"
        found.append((f"/{path}", text))
        left -= len(text)
        if left <= 0:
            break
    return sorted(found)
