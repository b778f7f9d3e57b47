"""A hub of our own on loopback: ``hub.folder`` holds its repositories, ``hub.requests()`` is its log."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SERVER = Path(__file__).parent / "hub_server.py"


class Hub:
    def __init__(self, folder: Path, url: str):
        self.folder, self.url = folder, url

    def requests(self):
        log = self.folder / "requests.jsonl"
        return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []

    def run(self, code, home):
        """Run Python code in a child that knows no other hub and has nothing cached."""
        environment = os.environ | {"HF_ENDPOINT": self.url, "HF_HUB_DISABLE_XET": "1", "HF_HOME": str(home)}
        environment.pop("HF_HUB_OFFLINE", None)
        command = [sys.executable, "-c", code]
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)


@pytest.fixture
def hub(tmp_path):
    folder = tmp_path / "hub"
    folder.mkdir()
    command = [sys.executable, str(SERVER), str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield Hub(folder, process.stdout.readline().strip())
        finally:
            process.terminate()
