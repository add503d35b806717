# SPDX-License-Identifier: Apache-2.0
"""A server of S3 that checks each signature by itself: moto, whose answers are those of Amazon's service."""

import json
import os
import socket
import subprocess
import sys
import time

import boto3

REGION = "eu-west-3"
# Calls that need no key: they make the user, its policy and its key.
CALLS_UNCHECKED = 3


class S3Server:
    """One user and its key: `key_id`, `secret`. Ends with the block."""

    def __enter__(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        self._process = subprocess.Popen(
            [sys.executable, "-m", "moto.server", "-p", str(port)], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, env=dict(os.environ, INITIAL_NO_AUTH_ACTION_COUNT=str(CALLS_UNCHECKED)))
        try:
            self._wait(port)
            self._make_user()
        except BaseException:
            self._process.kill()
            raise
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait()

    def _wait(self, port):
        until = time.monotonic() + 60
        while time.monotonic() < until and self._process.poll() is None:
            try:
                return socket.create_connection(("127.0.0.1", port), 1).close()
            except OSError:
                time.sleep(0.1)
        raise RuntimeError("moto does not start")

    def _client(self, service, key_id, secret):
        return boto3.client(service, endpoint_url=self.url, region_name=REGION, aws_access_key_id=key_id,
                            aws_secret_access_key=secret)

    def _make_user(self):
        users = self._client("iam", "nobody", "nothing")
        users.create_user(UserName="reader")
        allowed = {"Version": "2012-10-17", "Statement": {"Effect": "Allow", "Action": "*", "Resource": "*"}}
        users.put_user_policy(UserName="reader", PolicyName="all", PolicyDocument=json.dumps(allowed))
        key = users.create_access_key(UserName="reader")["AccessKey"]
        self.key_id, self.secret = key["AccessKeyId"], key["SecretAccessKey"]
        self.store = self._client("s3", self.key_id, self.secret)

    def make_bucket(self, name):
        self.store.create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": REGION})

    def put(self, bucket, key, content):
        self.store.put_object(Bucket=bucket, Key=key, Body=content)
