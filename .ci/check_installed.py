"""Check an installed wheel: every public module imports, with the required packages alone.

Run with ``python -I -W error check_installed.py VERSION`` outside the source folder.
"""

import importlib
import pkgutil
import sys
from importlib import metadata
from pathlib import Path

import skstream


def public_modules() -> list[str]:
    """Names of all modules and packages without an underscore in their path."""
    found = pkgutil.walk_packages(skstream.__path__, "skstream.")
    return [m.name for m in found if not any(p.startswith("_") for p in m.name.split("."))]


def main(version: str) -> None:
    folder = Path(skstream.__file__).parent
    if "site-packages" not in folder.parts:
        sys.exit(f"skstream was imported from {folder}, not from an installed wheel")
    found = {skstream.__version__, metadata.version("skstream"), version}
    if found != {version}:
        sys.exit(f"versions differ: {sorted(found)}")
    if not (folder / "py.typed").is_file():
        sys.exit("the wheel lacks py.typed")
    modules = public_modules()
    for name in modules:
        importlib.import_module(name)
    if {p.partition("/")[0] for p in map(str, metadata.files("skstream") or [])} & {"tests"}:
        sys.exit("the wheel installs the tests")
    print(f"skstream {version}: {len(modules)} modules import from the wheel")


if __name__ == "__main__":
    main(sys.argv[1])
