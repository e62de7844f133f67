"""Makes a Python wheel of an installation: `pip install` puts the binary on the path, and beside it
the library that it loads.

Usage: wheel.py VERSION ROOT OUT, where ROOT has bin/ and lib/.
"""

import base64
import hashlib
import pathlib
import re
import subprocess
import sys
import zipfile

METADATA = """\
Metadata-Version: 2.1
Name: hardbop
Version: {version}
Summary: A software model checker for C and for boolean programs
License: MIT OR Apache-2.0
Requires-Python: >=3.8
Description-Content-Type: text/markdown

{readme}"""

WHEEL = """\
Wheel-Version: 1.0
Generator: hardbop
Root-Is-Purelib: false
Tag: {tag}
"""


def platform(binaries):
    """The oldest glibc that has all symbols which the binaries ask for, as a tag of wheels."""
    newest = (2, 17)
    for binary in binaries:
        symbols = subprocess.run(
            ["objdump", "-T", str(binary)], capture_output=True, text=True, check=True
        ).stdout
        for major, minor in re.findall(r"GLIBC_(\d+)\.(\d+)", symbols):
            newest = max(newest, (int(major), int(minor)))
    return f"manylinux_{newest[0]}_{newest[1]}_x86_64"


def main():
    version, root, out = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    # Python's versions have no hyphens.
    version = version.replace("-", "+", 1).replace("-", ".")
    binary, libraries = root / "bin/hardbop", sorted(root.glob("lib/**/*.so*"))
    tag = f"py3-none-{platform([binary, *libraries])}"
    info = f"hardbop-{version}.dist-info"
    data = f"hardbop-{version}.data"
    readme = pathlib.Path("README.md").read_text()
    files = [(f"{data}/scripts/hardbop", binary.read_bytes(), 0o755)]
    for library in libraries:
        # `data` is the environment's own directory, so that the library is in ../lib from bin.
        name = f"{data}/data/{library.relative_to(root)}"
        files.append((name, library.read_bytes(), 0o644))
    for name in ["LICENSE-MIT", "LICENSE-APACHE"]:
        files.append((f"{info}/licenses/{name}", pathlib.Path(name).read_bytes(), 0o644))
    metadata = METADATA.format(version=version, readme=readme)
    files.append((f"{info}/METADATA", metadata.encode(), 0o644))
    files.append((f"{info}/WHEEL", WHEEL.format(tag=tag).encode(), 0o644))
    record = f"{info}/RECORD"
    lines = []
    with zipfile.ZipFile(out / f"hardbop-{version}-{tag}.whl", "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, content, mode in files:
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=")
            lines.append(f"{name},sha256={digest.decode()},{len(content)}")
            add(wheel, name, content, mode)
        lines.append(f"{record},,")
        add(wheel, record, ("\n".join(lines) + "\n").encode(), 0o644)


def add(wheel, name, content, mode):
    """Adds a file with a time that is always the same, so that equal contents are equal wheels."""
    entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    entry.external_attr = (0o100000 | mode) << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    wheel.writestr(entry, content)


if __name__ == "__main__":
    main()
