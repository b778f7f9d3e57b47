"""A hub for tests: one process on loopback that speaks as much of the hub's HTTP API as its clients ask for.

    python hub_server.py FOLDER [PORT]

serves FOLDER/models/org/name/* and FOLDER/datasets/org/name/* as repositories of one commit, prints its URL, and logs
each request as a line of JSON to FOLDER/requests.jsonl. Plain HTTP, no xet, no accounts. What it is not asked for, it
answers as the hub does: 404 with X-Error-Code.
"""

import hashlib
import json
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

COMMIT = "c0ffee" + "0" * 34
API = re.compile(
    r"/api/(?P<kind>models|datasets)/(?P<name>[\w.-]+/[\w.-]+)"
    r"(/(?P<what>revision|tree|paths-info)/(?P<revision>[^/]+)(/(?P<path>.*))?)?"
)
FILE = re.compile(r"/(?P<kind>datasets/)?(?P<name>[\w.-]+/[\w.-]+)/resolve/(?P<revision>[^/]+)/(?P<path>.+)")


class Hub(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    folder: Path

    def do_GET(self):
        self.route()

    def do_HEAD(self):
        self.route()

    def do_POST(self):
        self.route()

    def route(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = unquote(urlsplit(self.path).path)
        with (self.folder / "requests.jsonl").open("a") as log:
            log.write(json.dumps({"method": self.command, "path": path, "range": self.headers.get("Range")}) + "\n")
        api, file = API.fullmatch(path), FILE.fullmatch(path)
        found = api or file
        if not found:
            return self.missing("EntryNotFound")
        kind = "datasets" if (found["kind"] or "").startswith("datasets") else "models"
        repository = self.folder / kind / found["name"]
        if not repository.is_dir():
            return self.missing("RepoNotFound")
        if found["revision"] not in (None, "main", COMMIT):
            return self.missing("RevisionNotFound")
        if file:
            return self.file(repository, file["path"])
        files = sorted(str(entry.relative_to(repository)) for entry in repository.rglob("*") if entry.is_file())
        if api["what"] in (None, "revision"):
            return self.json(information(found["name"], files))
        if api["what"] == "tree":
            return self.json(tree(repository, files, api["path"] or ""))
        wanted = json.loads(body)["paths"] if body.startswith(b"{") else [unquote(p) for p in posted_paths(body)]
        return self.json([entry for path in wanted for entry in tree(repository, files, path, exact=True)])

    def file(self, repository, name):
        path = (repository / name).resolve()
        if not path.is_relative_to(repository.resolve()) or not path.is_file():
            return self.missing("EntryNotFound")
        content = path.read_bytes()
        span = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range") or "")
        headers = {"ETag": f'"{hashlib.sha1(content).hexdigest()}"', "X-Repo-Commit": COMMIT, "Accept-Ranges": "bytes"}
        if not span:
            return self.send(200, content, headers)
        first, last = int(span[1]), min(int(span[2] or len(content) - 1), len(content) - 1)
        headers["Content-Range"] = f"bytes {first}-{last}/{len(content)}"
        return self.send(206, content[first : last + 1], headers)

    def json(self, value):
        self.send(200, json.dumps(value).encode(), {"Content-Type": "application/json", "X-Repo-Commit": COMMIT})

    def missing(self, code):
        self.send(404, b'{"error": "not here"}', {"Content-Type": "application/json", "X-Error-Code": code})

    def send(self, status, content, headers):
        self.send_response(status)
        for key, value in headers.items():
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, *args):
        pass


def posted_paths(body):
    return [part.removeprefix(b"paths=").decode() for part in body.split(b"&") if part.startswith(b"paths=")]


def information(name, files):
    return {
        "_id": "0",
        "id": name,
        "modelId": name,
        "sha": COMMIT,
        "lastModified": "2024-01-01T00:00:00.000Z",
        "createdAt": "2024-01-01T00:00:00.000Z",
        "private": False,
        "gated": False,
        "disabled": False,
        "downloads": 0,
        "likes": 0,
        "tags": [],
        "siblings": [{"rfilename": file} for file in files],
    }


def tree(repository, files, path, *, exact=False):
    entries = {}
    for file in files:
        if (exact and file == path) or (not exact and (not path or file.startswith(path + "/"))):
            content = (repository / file).read_bytes()
            blob = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
            entries[file] = {"type": "file", "oid": blob, "size": len(content), "path": file}
            for parent in list(Path(file).parents)[:-1]:
                entries.setdefault(str(parent), {"type": "directory", "oid": COMMIT, "size": 0, "path": str(parent)})
        elif exact and file.startswith(path + "/"):
            entries[path] = {"type": "directory", "oid": COMMIT, "size": 0, "path": path}
    return list(entries.values())


def main(folder, port="0"):
    Hub.folder = Path(folder)
    server = ThreadingHTTPServer(("127.0.0.1", int(port)), Hub)
    print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
