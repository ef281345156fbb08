"""A real S3 server in this process, reached over HTTP, which can be away."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from toprung.archives.owning import MARKER
from toprung.testing.servers import free_port

BUCKET = "scores"
URL = f"s3://{BUCKET}/some/prefix"


class S3:
    """A server that can be away."""

    def __init__(self) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._server: Any = None
        self.start()
        self.client.create_bucket(Bucket=BUCKET)

    def start(self) -> None:
        from moto.server import ThreadedMotoServer

        self._server = ThreadedMotoServer("127.0.0.1", self.port, verbose=False)
        self._server.start()

    def stop(self) -> None:
        """What it holds stays in this process."""
        self._server.stop()

    @property
    def client(self) -> Any:
        import boto3

        return boto3.client(
            "s3",
            endpoint_url=self.url,
            region_name="us-east-1",
            aws_access_key_id="test",
            aws_secret_access_key="test",
        )

    def names(self) -> list[str]:
        """Of all objects."""
        found = self.client.list_objects_v2(Bucket=BUCKET).get("Contents", [])
        return [each["Key"] for each in found]

    def objects(self) -> dict[str, bytes]:
        """All files of archives."""
        client = self.client
        return {
            name: client.get_object(Bucket=BUCKET, Key=name)["Body"].read()
            for name in self.names()
            if not name.endswith(MARKER)
        }


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch) -> Iterator[S3]:
    server = S3()
    for name, value in {
        "AWS_ENDPOINT_URL": server.url,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(name, value)
    yield server
    for name in server.names():
        server.client.delete_object(Bucket=BUCKET, Key=name)
    server.client.delete_bucket(Bucket=BUCKET)
    server.stop()
