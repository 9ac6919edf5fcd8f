# SPDX-License-Identifier: GPL-2.0
"""image.py FOLDER FILE PROGRAM NAME...: write the folder as an image, in the format of "docker save"."""
import hashlib
import io
import json
import os
import platform
import sys
import tarfile

# Images have Go's names of machines.
MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}


def owned_by_root(info):
    info.uid = info.gid = 0
    info.uname = info.gname = "root"
    return info


def add(tar, name, data):
    info = tarfile.TarInfo(name)
    info.size = len(data)
    tar.addfile(info, io.BytesIO(data))


def main():
    folder, file, program, *names = sys.argv[1:]
    layer = file + ".layer"
    with tarfile.open(layer, "w") as tar:
        tar.add(folder, ".", filter=owned_by_root)
    with open(layer, "rb") as made:
        digest = hashlib.file_digest(made, "sha256").hexdigest()
    config = {
        "architecture": MACHINES.get(platform.machine(), platform.machine()), "os": "linux",
        "config": {"Entrypoint": [program], "Env": ["PATH=/usr/local/sbin:/usr/sbin:/usr/bin"]},
        "rootfs": {"type": "layers", "diff_ids": ["sha256:" + digest]},
    }
    manifest = [{"Config": "config.json", "RepoTags": names, "Layers": ["layer.tar"]}]
    with tarfile.open(file, "w") as tar:
        tar.add(layer, "layer.tar", filter=owned_by_root)
        add(tar, "config.json", json.dumps(config).encode())
        add(tar, "manifest.json", json.dumps(manifest).encode())
    os.remove(layer)


main()
