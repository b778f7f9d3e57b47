"""Options are frozen dataclasses: a field is a flag with help, a key of --config FILE.toml, a line of options.json.

@dataclass(frozen=True)
class Options:
    task: str = positional("what to learn: sentiment")
    epochs: int = option(2, "passes over train")
    label: tuple[str, ...] = option((), "map a label: 0=negative; may be given again", metavar="FROM=TO")
"""

import argparse
import dataclasses
import difflib
import tomllib
import types
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from heldout.errors import Refused

T = TypeVar("T")
REQUIRED: Any = dataclasses.MISSING


def option(default: Any, help: str, *, metavar: str | None = None) -> Any:
    """A flag: its default (REQUIRED where there is none) and a help line of a few words."""
    metadata = {"help": help, "metavar": metavar, "required": default is REQUIRED}
    return dataclasses.field(default=None if default is REQUIRED else default, metadata=metadata)


def positional(help: str, *, metavar: str | None = None, default: Any = REQUIRED) -> Any:
    """A positional argument; a ``tuple[str, ...]`` takes one or more (none or more with a default)."""
    metadata = {"help": help, "metavar": metavar, "positional": True, "required": default is REQUIRED}
    return dataclasses.field(default=None if default is REQUIRED else default, metadata=metadata)


class _Parser(argparse.ArgumentParser):
    """argparse whose errors are one line, exit status 2, naming the nearest known flag."""

    def error(self, message: str) -> Any:
        if message.startswith("unrecognized arguments:"):
            word = message.split(":", 1)[1].split()[0].split("=")[0]
            flags = [flag for action in self._actions for flag in action.option_strings]
            message = f"{word} is not an option of {self.prog}{nearest(word, flags)}"
        raise Refused(f"{message}; {self.prog} --help lists what it takes")


def nearest(word: str, known: Sequence[str]) -> str:
    """'; did you mean X?' for the closest known word, or an empty string."""
    close = difflib.get_close_matches(word, known, n=1)
    return f"; did you mean {close[0]}?" if close else ""


def parse(cls: type[T], argv: Sequence[str], *, prog: str, description: str) -> T:
    """Parse a command's arguments into its options; values of --config stand under those given on the command line."""
    hints = get_type_hints(cls)
    # What must be given stands first in --help, whichever class it was inherited from.
    ordered = sorted(dataclasses.fields(cast(Any, cls)), key=lambda field: not field.metadata["required"])
    fields = {field.name: field for field in ordered}
    # No abbreviations: --epoch would silently mean another flag once a second one starts with it.
    parser = _Parser(
        prog=prog,
        usage=_usage(prog, ordered),
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    for name, field in fields.items():
        _add(parser, name, field, hints[name])
    parser.add_argument(
        "--config", metavar="FILE.toml", help="options from a file: one key a line, as on the command line"
    )
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    # Intermixed: "report A --out F B" means A and B, which plain parse_args takes for a mistake.
    given = vars(parser.parse_intermixed_args(argv))
    given.pop("debug", None)
    config = given.pop("config", None)
    values = _from_file(Path(config), fields, hints) if config else {}
    values |= {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
    for name, field in fields.items():
        if field.metadata["required"] and values.get(name, ()) == ():
            shown = name.upper() if field.metadata.get("positional") else flag(name)
            raise Refused(f"{prog} needs {shown}: {field.metadata['help']}")
        values.setdefault(name, field.default)
    return cls(**values)


def _usage(prog: str, fields: Sequence["dataclasses.Field[Any]"]) -> str:
    """The call in one line: the positionals and what must be given; the rest is [options]."""
    words = [prog]
    for field in sorted(fields, key=lambda field: not field.metadata.get("positional")):
        shown = field.metadata["metavar"] or field.name.upper()
        if field.metadata.get("positional"):
            words.append(shown if field.metadata["required"] else f"[{shown}]")
        elif field.metadata["required"]:
            words.append(f"{flag(field.name)} {shown}")
    return " ".join([*words, "[options]"]).replace("%", "%%")


def flag(name: str) -> str:
    """The flag of a field: max_length → --max-length."""
    return "--" + name.replace("_", "-")


def to_json(options: Any) -> dict[str, Any]:
    """The options as options.json has them."""
    return {k: _plain(v) for k, v in dataclasses.asdict(options).items()}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, Path) else value


def shape(hint: Any) -> tuple[Any, bool]:
    """The scalar type of a field's hint and whether it takes several values."""
    if get_origin(hint) in (Union, types.UnionType):
        hint = next(arg for arg in get_args(hint) if arg is not type(None))
    if get_origin(hint) is tuple:
        return get_args(hint)[0], True
    return hint, False


def _add(parser: argparse.ArgumentParser, name: str, field: "dataclasses.Field[Any]", hint: Any) -> None:
    scalar, several = shape(hint)
    meta, shown = field.metadata, field.metadata["help"].replace("%", "%%")
    has_default = not meta["required"] and field.default not in (None, (), False, "")
    if has_default:
        shown += f" (default {field.default})".replace("%", "%%")
    extra: dict[str, Any] = {"help": shown, "default": argparse.SUPPRESS}
    if get_origin(scalar) is Literal:
        extra |= {"choices": get_args(scalar)}
    elif scalar is bool:
        parser.add_argument(flag(name), action=argparse.BooleanOptionalAction, **extra)
        return
    else:
        extra |= {
            "type": scalar,
            "metavar": meta["metavar"] or (name.upper() if meta.get("positional") else scalar.__name__.upper()),
        }
    if meta.get("positional"):
        # Never required by argparse: --config may give it; parse says what is missing.
        parser.add_argument(name, nargs="*" if several else "?", **extra)
    else:
        if several:
            extra["action"] = "append"
        parser.add_argument(flag(name), **extra)


def _from_file(path: Path, fields: Mapping[str, Any], hints: Mapping[str, Any]) -> dict[str, Any]:
    try:
        rows = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise Refused(f"{path}: the --config file cannot be read ({error.strerror})") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Refused(f"{path}: not TOML ({error})") from None
    values = {}
    for key, value in rows.items():
        name = key.replace("-", "_")
        if name not in fields:
            raise Refused(f"{path}: unknown option {key!r}{nearest(name, list(fields))}")
        if name in values:
            raise Refused(f"{path}: {key!r} is given twice, once with - and once with _; keep one")
        values[name] = _coerced(path, key, value, hints[name])
    return values


def _coerced(path: Path, key: str, value: Any, hint: Any) -> Any:
    scalar, several = shape(hint)
    if get_origin(scalar) is Literal:
        allowed, wanted = get_args(scalar), "one of " + ", ".join(map(str, get_args(scalar)))
    else:
        allowed, wanted = None, f"a {scalar.__name__}"
    accepted, convert = {float: ((int, float), float), Path: (str, Path)}.get(scalar, (scalar, scalar))
    items = value if isinstance(value, list) and several else [value]
    for item in items:
        fits = item in allowed if allowed else isinstance(item, accepted)
        if not fits or (isinstance(item, bool) and scalar is not bool):
            raise Refused(f"{path}: {key} = {item!r} must be {wanted}")
    converted = [item if allowed else convert(item) for item in items]
    return tuple(converted) if several else converted[0]
