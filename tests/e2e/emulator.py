"""moto on loopback: an AWS that nobody here wrote, in a process of its own, with the images and parameters that EKS publishes.

    emulator.py PORT      serves until it is ended; everything else imports Emulator

moto knows no images of EKS and refuses parameters below /aws, as AWS does for everybody but itself. So images come from a file, which moto reads as it is imported, and
parameters are put where moto keeps them, before it serves. All else in an account is made over the wire, with boto3.
"""
import contextlib
import datetime
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

REGION, ACCOUNT = "us-west-2", "123456789012"
KUBERNETES = "1.36"
RELEASES = {"v20260101": "2026-01-01T00:00:00.000Z", "v20260520": "2026-05-20T00:00:00.000Z"}  # the last one is recommended
ARCHS, BOTTLEROCKET = ("x86_64", "arm64"), "1.50.0"
KINDS = [("x86_64", "standard"), ("x86_64", "nvidia"), ("x86_64", "neuron"), ("arm64", "standard"), ("arm64", "nvidia")]


def ami(release, arch, variant):
    """The id of an image of Amazon Linux 2023."""
    return f"ami-{1 + list(RELEASES).index(release) * len(KINDS) + KINDS.index((arch, variant)):017x}"


def bottlerocket(arch):
    """The id of the image of Bottlerocket."""
    return f"ami-{0xb0 + ARCHS.index(arch):017x}"


def image(id, name, arch, date):
    return {"ami_id": id, "name": name, "architecture": arch, "creation_date": date, "description": name, "owner_id": "602401143452", "public": True,
            "virtualization_type": "hvm", "hypervisor": "xen", "root_device_type": "ebs", "root_device_name": "/dev/xvda",
            "image_location": f"amazon/{name}", "state": "available"}


def images():
    """(images as moto's file has them, parameters that name them)"""
    files, parameters = [], {}
    for arch in ARCHS:
        files.append(image(bottlerocket(arch), f"bottlerocket-aws-k8s-{KUBERNETES}-{arch}-v{BOTTLEROCKET}-0123abcd", arch, RELEASES["v20260101"]))
        parameters[f"/aws/service/bottlerocket/aws-k8s-{KUBERNETES}/{arch}/{BOTTLEROCKET}/image_id"] = bottlerocket(arch)
    for release, date in RELEASES.items():
        for arch, variant in KINDS:
            name = f"amazon-eks-node-al2023-{arch}-{variant}-{KUBERNETES}-{release}"
            files.append(image(ami(release, arch, variant), name, arch, date))
            base = f"/aws/service/eks/optimized-ami/{KUBERNETES}/amazon-linux-2023/{arch}/{variant}"
            parameters[f"{base}/{name}/image_id"] = parameters[f"{base}/recommended/image_id"] = ami(release, arch, variant)
    return files, parameters


def one_at_a_time(app):
    """moto is not made for two requests at once; only those to the queue may wait beside others."""
    lock = threading.Lock()

    def answer(environ, start_response):
        with contextlib.nullcontext() if "/sqs/aws4_request" in environ.get("HTTP_AUTHORIZATION", "") else lock:
            return app(environ, start_response)

    return answer


def serve(port):
    files, parameters = images()
    with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
        json.dump(files, f)
        f.flush()
        os.environ["MOTO_AMIS_PATH"] = f.name
        from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
        from moto.ssm.models import Parameter, ssm_backends
        from werkzeug.serving import run_simple

        store, now = ssm_backends[ACCOUNT][REGION]._parameters, datetime.datetime.now(datetime.timezone.utc)
        for name, value in parameters.items():
            store[name].append(Parameter(ACCOUNT, name, value, "String", None, None, None, now, 1, "aws:ec2:image"))
        run_simple("127.0.0.1", port, one_at_a_time(DomainDispatcherApplication(create_backend_app)), threaded=True,
                   request_handler=MotoRequestHandler)


class Emulator:
    """A context manager; `url` is where it is."""

    def __init__(self, port):
        self.port, self.url = port, f"http://127.0.0.1:{port}"

    def __enter__(self):
        self.process = subprocess.Popen([sys.executable, os.path.abspath(__file__), str(self.port)], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(600):
            try:
                urllib.request.urlopen(f"{self.url}/moto-api/data.json", timeout=5).close()
                return self
            except OSError:
                time.sleep(0.1)
        self.__exit__()
        raise RuntimeError("moto does not start")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def client(self, service):
        """boto3, straight to moto."""
        import boto3

        return boto3.client(service, region_name=REGION, endpoint_url=self.url, aws_access_key_id="test", aws_secret_access_key="test")


if __name__ == "__main__":
    serve(int(sys.argv[1]))
