"""Lists the versions of the site that a folder holds: ``python docs/_versions.py FOLDER``.

Writes ``switcher.json``, which the pages read for their list of versions, and an ``index.html``
that leads to the newest release.
"""

import json
import re
import sys
from pathlib import Path


def main(folder: Path) -> None:
    names = [one.name for one in folder.iterdir() if (one / "index.html").is_file()]
    releases = [name for name in names if re.fullmatch(r"\d+(\.\d+)+", name)]
    releases.sort(key=lambda name: [int(part) for part in name.split(".")], reverse=True)
    stable = releases[0] if releases else "dev"
    listed = [
        {
            "name": f"{name} (stable)" if name == stable else name,
            "version": name,
            "url": f"../{name}/",
        }
        for name in [*releases, *(["dev"] if "dev" in names else [])]
    ]
    (folder / "switcher.json").write_text(json.dumps(listed, indent=2), "utf-8")
    (folder / "index.html").write_text(
        f'<!DOCTYPE html><meta http-equiv="refresh" content="0; url={stable}/index.html">'
        f'<link rel="canonical" href="{stable}/index.html">'
        f'<a href="{stable}/index.html">skstream</a>\n',
        "utf-8",
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
