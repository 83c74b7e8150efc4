"""A hub of the tests' own: it speaks the API of Hugging Face and of ModelScope, redirects large files to another
host (a second port), and misbehaves where a test asks it to."""
import dataclasses
import hashlib
import json
import pathlib
import re
import socket
import ssl
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PIECE = 64 << 10
LFS_SUFFIXES = (".safetensors", ".gguf", ".bin")


def git_sha1(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@dataclasses.dataclass
class Repo:
    files: dict[str, bytes]
    revisions: dict[str, str]  # branch or tag to commit
    token: str = ""            # needed to read its files
    lies: dict[str, bytes] = dataclasses.field(default_factory=dict)  # sent instead of the file of this name

    def is_lfs(self, path: str) -> bool:
        return path.endswith(LFS_SUFFIXES)

    def etag(self, path: str) -> str:
        return sha256(self.files[path]) if self.is_lfs(path) else git_sha1(self.files[path])


class Hub:
    """Behaviour is changed by the fields below, at any time, for all requests that come after."""

    def __init__(self, tls: ssl.SSLContext | None = None):
        self.tls = tls
        self.repos: dict[str, Repo] = {}
        self.lock = threading.Lock()
        self.reset()
        self._servers = [self._start(is_storage) for is_storage in (False, True)]
        self.url, self.storage_url = (f"{'https' if tls else 'http'}://127.0.0.1:{server.server_address[1]}" for server in self._servers)

    def reset(self):
        self.requests: list[tuple[str, str, str]] = []  # method, path, range
        self.leaked: list[str] = []                     # tokens that came to the storage's host
        self.n_bytes = 0                                # of files' bodies, as far as they were sent
        self.statuses: list[int] = []                   # answered instead, first to last
        self.retry_after = ""                           # beside those
        self.knows_ranges = True
        self.seconds_per_piece = 0.0                    # of 64 KiB
        self.break_after: list[int] = []                # bodies are cut after so many bytes, first to last
        self.stall_after: list[int] = []                # the same, but the connection stays and falls silent
        self.list_body: bytes | None = None             # instead of the list of files

    def add(self, name: str, files: dict[str, bytes] | pathlib.Path, **fields) -> Repo:
        if isinstance(files, pathlib.Path):
            files = {path.name: path.read_bytes() for path in sorted(files.iterdir())}
        listing = "".join(f"{path} {sha256(data)}\n" for path, data in sorted(files.items()))
        repo = Repo(files, {"main": hashlib.sha1(listing.encode()).hexdigest()}, **fields)
        self.repos[name] = repo
        return repo

    def environment(self, home: pathlib.Path, **more: str) -> dict[str, str]:
        return {"HF_ENDPOINT": self.url, "MODELSCOPE_ENDPOINT": self.url, "HF_HOME": str(home), "HF_TOKEN": "",
                "no_proxy": "127.0.0.1", **more}

    def served(self, part: str) -> list[tuple[str, str, str]]:
        return [request for request in self.requests if part in request[1]]

    def stop(self):
        for server in self._servers:
            server.shutdown()
            server.server_close()

    def _start(self, is_storage: bool) -> ThreadingHTTPServer:
        handler = type("Handler", (_Handler,), {"hub": self, "is_storage": is_storage})
        server = _Server(("127.0.0.1", 0), handler)
        if self.tls:
            server.socket = self.tls.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True, kwargs={"poll_interval": 0.05}).start()
        return server


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        pass  # clients that are killed, or don't trust the certificate


class _Handler(BaseHTTPRequestHandler):
    hub: Hub
    is_storage: bool
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def setup(self):
        # What is sent and not yet read is little: a client that is killed has had what was counted.
        self.request.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, PIECE)
        super().setup()

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        with self.hub.lock:
            self.hub.requests.append((self.command, self.path, self.headers.get("Range", "")))
            status = self.hub.statuses.pop(0) if self.hub.statuses else None
        try:
            if status:
                extra = {"Retry-After": self.hub.retry_after} if self.hub.retry_after else {}
                self.reply(status, b"not now", extra)
            elif self.is_storage:
                self.storage()
            else:
                self.hub_page(urllib.parse.urlsplit(self.path))
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def token(self) -> str:
        return self.headers.get("Authorization", "").removeprefix("Bearer ")

    def reply(self, status: int, body: bytes, headers: dict[str, str] | None = None):
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def reply_json(self, value):
        self.reply(200, json.dumps(value).encode(), {"Content-Type": "application/json"})

    def error(self, status: int, code: str):
        self.reply(status, b"{}", {"X-Error-Code": code, "X-Error-Message": code})

    def hub_page(self, url: urllib.parse.SplitResult):
        path = urllib.parse.unquote(url.path)
        query = {key: values[0] for key, values in urllib.parse.parse_qs(url.query).items()}
        if self.hub.list_body is not None and path.startswith("/api/"):
            self.reply(200, self.hub.list_body)
        elif match := re.fullmatch(r"/api/models/([^/]+/[^/]+)(?:/(revision|tree)/(.+))?", path):
            self.model_page(*match.groups())
        elif match := re.fullmatch(r"/api/v1/models/([^/]+/[^/]+)/repo/files", path):
            self.modelscope_list(match[1], query)
        elif match := re.fullmatch(r"/api/v1/models/([^/]+/[^/]+)/repo", path):
            self.modelscope_file(match[1], query)
        elif match := re.fullmatch(r"/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path):
            self.resolve(*match.groups())
        else:
            self.error(404, "")

    def repo(self, name: str) -> Repo | None:
        if name not in self.hub.repos:
            self.error(401, "RepoNotFound")
        return self.hub.repos.get(name)

    def commit(self, repo: Repo, revision: str | None) -> str | None:
        commit = repo.revisions.get(revision or "main", revision if revision in repo.revisions.values() else None)
        if commit is None:
            self.error(404, "RevisionNotFound")
        return commit

    def model_page(self, name: str, kind: str | None, revision: str | None):
        if not (repo := self.repo(name)) or not (commit := self.commit(repo, revision)):
            return
        def entry(path):
            data = repo.files[path]
            lfs = {"sha256": sha256(data), "oid": sha256(data), "size": len(data), "pointerSize": 130}
            return {"size": len(data), "blobId": git_sha1(data), **({"lfs": lfs} if repo.is_lfs(path) else {})}
        if kind == "tree":
            self.reply_json([{"type": "file", "path": path, "oid": git_sha1(repo.files[path]), **entry(path)}
                             for path in repo.files])
        else:
            self.reply_json({"id": name, "sha": commit, "private": False, "tags": [], "downloads": 0, "likes": 0,
                             "siblings": [{"rfilename": path, **entry(path)} for path in repo.files]})

    def resolve(self, name: str, revision: str, path: str):
        if not (repo := self.repo(name)) or not (commit := self.commit(repo, revision)):
            return
        if repo.token and self.token() != repo.token:
            self.error(401, "GatedRepo")
            return
        if path not in repo.files:
            self.error(404, "EntryNotFound")
            return
        headers = {"X-Repo-Commit": commit, "ETag": f'"{repo.etag(path)}"'}
        if repo.is_lfs(path):
            headers |= {"X-Linked-Etag": f'"{repo.etag(path)}"', "X-Linked-Size": str(len(repo.files[path])),
                        "Location": f"{self.hub.storage_url}/{name}/{urllib.parse.quote(path)}"}
            self.reply(302, b"elsewhere", headers)
        else:
            self.file(repo.lies.get(path, repo.files[path]), headers)

    def modelscope_list(self, name: str, query: dict[str, str]):
        repo = self.hub.repos.get(name)
        if not repo or query["Revision"] != "master":
            self.reply(404, json.dumps({"Code": 10010205001, "Success": False, "Message": "not found"}).encode())
            return
        self.reply_json({"Code": 200, "Success": True, "Data": {"Files": [
            {"Name": "docs", "Path": "docs", "Size": 0, "Sha256": "", "Type": "tree"},
            *({"Name": path, "Path": path, "Size": len(data), "Sha256": sha256(data), "Type": "blob"}
              for path, data in repo.files.items())]}})

    def modelscope_file(self, name: str, query: dict[str, str]):
        path = query["FilePath"]
        self.reply(302, b"", {"Location": f"{self.hub.storage_url}/{name}/{urllib.parse.quote(path)}"})

    def storage(self):
        if self.token():
            self.hub.leaked.append(self.token())
        owner, model, path = urllib.parse.unquote(self.path).lstrip("/").split("/", 2)
        repo = self.hub.repos[f"{owner}/{model}"]
        self.file(repo.lies.get(path, repo.files[path]), {})

    def file(self, data: bytes, headers: dict[str, str]):
        body = memoryview(data)
        wanted = re.fullmatch(r"bytes=(\d+)-(\d+)?", self.headers.get("Range", "")) if self.hub.knows_ranges else None
        if wanted:
            first, last = int(wanted[1]), min(int(wanted[2] or len(data)), len(data) - 1)
            body = body[first:last + 1]
            headers = headers | {"Content-Range": f"bytes {first}-{last}/{len(data)}"}
        self.send_response(206 if wanted else 200)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.send_body(body)

    def send_body(self, body: memoryview):
        with self.hub.lock:
            cut = self.hub.break_after.pop(0) if self.hub.break_after else None
            stall = self.hub.stall_after.pop(0) if self.hub.stall_after else None
        end = min(n for n in (len(body), cut, stall) if n is not None)
        for at in range(0, end, PIECE):
            piece = body[at:min(at + PIECE, end)]
            self.wfile.write(piece)
            with self.hub.lock:
                self.hub.n_bytes += len(piece)
            time.sleep(self.hub.seconds_per_piece)
        if end < len(body):
            if stall is not None:
                time.sleep(5)
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
