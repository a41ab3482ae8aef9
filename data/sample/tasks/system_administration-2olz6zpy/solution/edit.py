# mypy: ignore-errors
"""edit.py FILE KEY=VALUE...: sets exactly these keys in an INI (SECTION.KEY), JSON or env file."""

import configparser
import json
import sys


def main():
    path, pairs = sys.argv[1], [word.partition("=")[::2] for word in sys.argv[2:]]
    if path.endswith(".json"):
        text = json.dumps({key: json.loads(value) for key, value in pairs}, indent=4) + "\n"
    elif path.endswith(".env"):
        text = "".join(f"{key}={value}\n" for key, value in pairs)
    else:
        parser = configparser.ConfigParser(interpolation=None)
        for key, value in pairs:
            section, _, name = key.partition(".")
            if not parser.has_section(section):
                parser.add_section(section)
            parser[section][name] = value
        with open(path, "w") as stream:
            parser.write(stream)
        return
    with open(path, "w") as stream:
        stream.write(text)


if __name__ == "__main__":
    main()
