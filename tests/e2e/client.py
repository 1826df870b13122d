"""A small API client for tests that ask one question after the other: kubectl would cost a tenth of a second each."""
import base64
import http.client
import json
import os
import ssl
import subprocess
import tempfile
import urllib.parse

import servers


class Client:
    def __init__(self, side):
        shown = subprocess.run([os.path.join(servers.BIN, "kubectl"), "--kubeconfig", side.kubeconfig, "config", "view", "--raw", "--minify",
                                "-o", "json"], check=True, stdout=subprocess.PIPE)
        config = json.loads(shown.stdout)
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        self.user = user
        self.host = urllib.parse.urlparse(cluster["server"])
        self.headers = {"Authorization": "Bearer " + user["token"]} if "token" in user else {}
        self.tls = ssl.create_default_context(cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())
        if "client-certificate-data" in user:
            with tempfile.NamedTemporaryFile("wb", suffix=".pem") as f:
                f.write(base64.b64decode(user["client-certificate-data"]) + base64.b64decode(user["client-key-data"]))
                f.flush()
                self.tls.load_cert_chain(f.name)
        self.connection = None

    def call(self, method, path, body=None, content_type="application/json"):
        """(status code, decoded answer)"""
        data = None if body is None else json.dumps(body)
        headers = {**self.headers, "Accept": "application/json", **({"Content-Type": content_type} if data else {})}
        for attempt in (1, 2):
            try:
                if not self.connection:
                    self.connection = http.client.HTTPSConnection(self.host.hostname, self.host.port, context=self.tls, timeout=30)
                self.connection.request(method, path, data, headers)
                answer = self.connection.getresponse()
                raw = answer.read()
                break
            except (http.client.HTTPException, OSError):
                self.connection = None
                if attempt == 2:
                    raise
        return answer.status, json.loads(raw) if raw.startswith(b"{") else raw.decode(errors="replace")
