"""A suite of ``skstream bench`` as data: models × streams × seeds, and its runs.

A run of the suite is one stream with one seed and all models: the evaluation that the words of an
`evaluate` command say.
"""

import inspect
import math
import os
import re
import tomllib
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skstream.cli._arguments import OPTIONS_OF_STREAMS
from skstream.cli._from_text import GENERATOR, KNOWN_STREAMS, parse_model_string
from skstream.utils._choices import did_you_mean
from skstream.utils._saved import no_such_file

SHIPPED = Path(__file__).with_name("suite.toml")
#: Suites that are beside it, which are named without a path.
SHIPPED_NAMES = ("field", "field-short")
#: Folder of the results of a suite.
RESULTS = "results"
KEYS = (
    *("alpha", "bin", "certify", "chance", "metric", "missing", "models", "protocol"),
    *("references", "seeds", "streams"),
)
#: A model that is shown where the truth is known, and never competes.
OPTIMAL = "bayes-optimal"
_STREAM_NAME = re.compile(r"[\w+-][\w.+-]*")

#: Options of streams that go with files alone.
OF_FILES = ("target", "exclude", "read", "time", "label-time", "delay-unit")


@dataclass(frozen=True)
class Run:
    """One stream with one seed, and all models.

    Attributes
    ----------
    stream : str
        Name of the stream.
    seed : int
        The seed.
    words : tuple of str
        The command that evaluates it.
    path : Path
        Where the result is saved.
    """

    stream: str
    seed: int
    words: tuple[str, ...]
    path: Path


@dataclass(frozen=True, kw_only=True)
class Suite:
    """What a file says about a benchmark.

    Attributes
    ----------
    text : str
        The file.
    models : dict of str to str
        Model strings by name.
    every_model : dict of str to str
        These and those of single streams.
    streams : dict of str to (str or dict)
        Texts that describe generators, or options of the command line about files; with models,
        measures and seeds of their own.
    seeds : tuple of int
        The seeds.
    metrics : tuple of str
        Measures; the first is ranked.
    certify : str or None
        Measure of the leaderboard; None: there is none.
    references : tuple of str
        Models that are shown and do not compete.
    alpha : float
        Level of the tests and of the leaderboard.
    protocol : dict of str to object
        Parameters of the evaluator.
    chance : tuple of str
        Models whose answers depend on the seed: on rows that do not, later seeds are theirs alone.
        Empty: all models may.
    bin : int or None
        Bin whose answers count where labels are late; None: the last one.
    skips_missing : bool
        Whether streams that cannot be opened are left out.
    """

    text: str
    models: dict[str, str]
    every_model: dict[str, str]
    streams: dict[str, str | dict[str, Any]]
    seeds: tuple[int, ...]
    metrics: tuple[str, ...]
    certify: str | None
    references: tuple[str, ...]
    alpha: float
    protocol: dict[str, Any]
    chance: tuple[str, ...]
    bin: int | None
    skips_missing: bool

    def runs(self, folder: Path) -> list[Run]:
        """Return all runs, seed by seed: each stream has a result as soon as can be."""
        return [
            Run(name, seed, self._words(name, seed), folder / RESULTS / f"{name}-{seed}.npz")
            for place, seed in enumerate(self.seeds)
            for name, given in self.streams.items()
            if isinstance(given, str) or place < given.get("seeds", math.inf)
        ]

    def _words(self, name: str, seed: int) -> tuple[str, ...]:
        given = self.streams[name]
        own: dict[str, Any] = {"generator": given} if isinstance(given, str) else dict(given)
        files = own.pop("file", [])
        files = [files] if isinstance(files, str) else files
        models, further = self.models | own.pop("models", {}), own.pop("metric", [])
        own.pop("seeds", None)
        if files and "generator" in own:
            # The generator fetches what the files hold, where they are not there.
            if all(os.path.exists(os.path.expandvars(one)) for one in files):
                del own["generator"]
            else:
                files = []
                own = {key: one for key, one in own.items() if key not in OF_FILES}
        text = str(own.get("generator", ""))
        if "generator" in own:
            own["generator"] = seeded(text, seed_of(name, seed))
        if self.chance and seed != self.seeds[0] and own.get("generator", "") == text:
            models = {name: model for name, model in models.items() if name in self.chance}
        words = ["evaluate", *files]
        for key, value in (own | {"set": self.protocol | own.get("set", {})}).items():
            words += _option(key, value)
        words += _option("metric", list(self.metrics)) + _option("metric", further)
        words += _option("model", [f"{name}={model}" for name, model in models.items()])
        return (*words, "--set", "keep_tape=True", "--set", f"random_state={seed}")


def _option(key: str, value: Any) -> list[str]:
    if isinstance(value, dict):  # of parameters
        value = [f"{name}={one!r}" for name, one in value.items()]
    values = value if isinstance(value, list) else [value]
    return [word for one in values for word in (f"--{key}", str(one))]


def seed_of(stream: str, seed: int) -> int:
    """Return the seed of a generator: another one for each stream, so that none share numbers."""
    return zlib.crc32(f"{stream} {seed}".encode())


def seeded(text: str, seed: int) -> str:
    """Put a seed into the text of a generator.

    Parameters
    ----------
    text : str
        A generator. ``{seed}`` in it is replaced; else, the generator gets it as its
        `random_state`, if it has one and the text does not give it.
    seed : int
        The seed.

    Returns
    -------
    text : str
        With the seed, where it has a place.

    Examples
    --------
    >>> from skstream.cli._suite import seeded
    >>> seeded("SEA(noise=0.2)", 7), seeded("take_rows('SEA(random_state={seed})', n=9)", 7)
    ('SEA(noise=0.2, random_state=7)', "take_rows('SEA(random_state=7)', n=9)")
    """
    if "{seed}" in text:
        return text.replace("{seed}", str(seed))
    parts = parse_model_string(text, GENERATOR, KNOWN_STREAMS)
    make = KNOWN_STREAMS.get(parts.target)
    if parts.models or "random_state" in parts.parameters or not callable(make):
        return text
    if "random_state" not in inspect.signature(make).parameters:
        return text
    before = f"{text.strip().removesuffix(')')}, " if parts.parameters else f"{parts.target}("
    return f"{before}random_state={seed})"


# -- reading a suite


def read_suite(path: Path | None) -> Suite:
    """Read a suite; None: the one that ships.

    Parameters
    ----------
    path : Path or None
        A TOML file, or the name of one that ships.

    Returns
    -------
    suite : Suite
        What it says, checked as far as nothing is opened.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is no TOML, or has an unknown key or a value of a wrong kind.
    """
    if path is None or (str(path) in SHIPPED_NAMES and not path.is_file()):
        path = SHIPPED if path is None else SHIPPED.with_name(f"{path}.toml")
    if not path.exists():
        raise no_such_file(path)
    try:
        text = path.read_text(encoding="utf-8")
        data = tomllib.loads(text)
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ValueError(f"{path} is not a TOML file: {error}.") from error
    _check_keys(data, KEYS, f"{path}", "key")
    models, streams = (_table(data, name, path) for name in ("models", "streams"))
    protocol = data.get("protocol", {})
    if not isinstance(protocol, dict):
        raise ValueError(f"{path}: [protocol] must be a table of parameters. Got {protocol!r}.")
    _check_models(models, f"{path}: [models]")
    every = dict(models)
    for name, stream in streams.items():
        _check_stream(name, stream, every, path)
        alike = [one for one in streams if one.casefold() == name.casefold()]
        if len(alike) > 1:
            raise ValueError(
                f"{path}: the names of streams become those of files, and {' and '.join(alike)} "
                "differ only in capitalisation, which some systems ignore."
            )
    metrics = _list(data.get("metric", "accuracy"), str, "metric", path)
    certify = data.get("certify", metrics[0])
    if not (isinstance(certify, str) or certify is False):
        raise ValueError(f"{path}: certify must be a measure, or false. Got {certify!r}.")
    seeds = data.get("seeds", 1)
    if isinstance(seeds, int) and not isinstance(seeds, bool):
        seeds = list(range(seeds))
    chance = tuple(_list(data.get("chance", []), str, "chance", path, least=0))
    _check_keys(dict.fromkeys(chance), list(every), f"chance of {path}", "model")
    bin, missing = data.get("bin"), data.get("missing", "error")
    if not (bin is None or (type(bin) is int and bin >= 0)):
        raise ValueError(f"{path}: bin must be the number of a bin, such as 0. Got {bin!r}.")
    if missing not in ("error", "skip"):
        raise ValueError(f'{path}: missing must be "error" or "skip". Got {missing!r}.')
    alpha = data.get("alpha", 0.05)
    if not (isinstance(alpha, float) and 0 < alpha < 1):
        raise ValueError(f"{path}: alpha must be a number between 0 and 1. Got {alpha!r}.")
    return Suite(
        text=text,
        models=models,
        every_model=every,
        streams=streams,
        seeds=tuple(_list(seeds, int, "seeds", path)),
        metrics=tuple(dict.fromkeys([*metrics, *([certify] if certify else [])])),
        certify=certify or None,
        references=tuple(_list(data.get("references", []), str, "references", path, least=0)),
        alpha=alpha,
        protocol=protocol,
        chance=chance,
        bin=bin,
        skips_missing=missing == "skip",
    )


def _check_keys(given: Mapping[str, Any], known: Sequence[str], where: str, what: str) -> None:
    for key in given:
        if key not in known:
            raise ValueError(
                f"{where} has the unknown {what} {key!r}.{did_you_mean(key, known)} Valid are: "
                f"{', '.join(known)}."
            )


def _table(data: Mapping[str, Any], name: str, path: Path) -> dict[str, Any]:
    table = data.get(name)
    if not isinstance(table, dict) or not table:
        raise ValueError(f"{path} needs a table [{name}] with at least one entry. Got {table!r}.")
    return table


def _list(given: Any, kind: type, key: str, path: Path, least: int = 1) -> list[Any]:
    values = given if isinstance(given, list) else [given]
    is_good = len(values) >= least and len(set(map(str, values))) == len(values)
    if not (is_good and all(type(one) is kind for one in values)):
        words = "a number above 0, or a list of different whole numbers"
        if kind is str:
            words = "a text, or a list of different texts"
        raise ValueError(f"{path}: {key} must be {words}. Got {given!r}.")
    if kind is int and min(values) < 0:
        raise ValueError(f"{path}: {key} must not be negative. Got {given!r}.")
    return values


def _check_models(models: Any, where: str) -> None:
    if not isinstance(models, dict):
        raise ValueError(f"{where} must be a table of names and texts. Got {models!r}.")
    for name, text in models.items():
        if not isinstance(text, str) or re.search(r"[=()'\"]", name):
            raise ValueError(
                f"{where} must map names to texts, with names without = ( ) and quotes, as in "
                f'slow = "sgd(alpha=0.001)". Got {name!r} = {text!r}.'
            )


def _check_stream(name: str, given: Any, models: dict[str, str], path: Path) -> None:
    """Refuse what no stream can be; its own models are added to those given."""
    if not _STREAM_NAME.fullmatch(name):
        raise ValueError(
            f"{path}: the name of a stream becomes that of a file, and may contain only letters, "
            f"digits and . + - _. Got {name!r}."
        )
    if isinstance(given, dict):
        known = (*OPTIONS_OF_STREAMS, "models", "seeds")
        _check_keys(given, known, f"The stream {name} of {path}", "option")
        _check_models(given.get("models", {}), f"{path}: models of the stream {name}")
        for one, text in given.get("models", {}).items():
            if models.setdefault(one, text) != text:
                raise ValueError(
                    f"{path}: the model {one!r} of the stream {name} is {text!r}, and elsewhere "
                    f"{models[one]!r}. Give one of them another name."
                )
        if not (type(n := given.get("seeds", 1)) is int and n > 0):
            raise ValueError(
                f"{path}: seeds of a stream must be a number above 0, of the first seeds of the "
                f"suite that it has. Got {n!r} of {name}."
            )
    elif not isinstance(given, str):
        raise ValueError(
            f"{path}: a stream must be the text of a generator, or a table such as "
            f'{{file = "power.csv", target = "class"}}. Got {name} = {given!r}.'
        )
