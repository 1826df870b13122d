"""What stands between the controller and moto: every request goes on to moto as it came, but for what moto lacks and the tests need.

| call | what is done here |
|---|---|
| any | its signature is made again by botocore, from the keys that were handed out: a wrong one is refused, and so is one with keys that have expired or were revoked. moto checks neither |
| CreateFleet | moto takes the first override and looks at no price: it is given the one with the lowest Priority, which is its price in our requests. moto does not hand security groups, instance profile and volume tags on to instances: they are set with moto's own calls, as the launch template says |
| GET /credentials | the agent of EKS Pod Identity: keys of a role, got from moto's STS, that are good for a minute; now and then it is ill and has none |

All that a machine, a launch template or a profile is stays in moto. Pricing is not answered by moto (HTTP 500 and a page for people): that goes through to the controller.
"""
import collections
import datetime
import http.client
import http.server
import json
import re
import threading
import urllib.parse

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from emulator import ACCOUNT

AGENT_PATH, AGENT_TOKEN = "/credentials", "token-of-the-pod"
GOOD_FOR_S = 60
SIGNED = re.compile(r"AWS4-HMAC-SHA256 Credential=([^/]+)/\d{8}/([^/]+)/([^/]+)/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})")
OVERRIDE = re.compile(r"(LaunchTemplateConfigs\.\d+)\.Overrides\.\d+")
EXPIRED = {"ec2": "RequestExpired", "iam": "ExpiredToken", "sts": "ExpiredToken"}  # by service; others say ExpiredTokenException
Key = collections.namedtuple("Key", "id secret token expires")
Call = collections.namedtuple("Call", "service action status key")


def now():
    return datetime.datetime.now(datetime.timezone.utc)


def refusal(service, code, message):
    """An error as a service writes it."""
    if service == "ec2":
        text = f"<Response><Errors><Error><Code>{code}</Code><Message>{message}</Message></Error></Errors></Response>"
    elif service in ("iam", "sts"):
        text = f"<ErrorResponse><Error><Type>Sender</Type><Code>{code}</Code><Message>{message}</Message></Error></ErrorResponse>"
    else:
        return 400, {"Content-Type": "application/x-amz-json-1.1", "x-amzn-errortype": code}, json.dumps({"__type": code, "message": message}).encode()
    return 400, {"Content-Type": "text/xml"}, text.encode()


def cheapest(form):
    """A fleet request with one override left: the one with the lowest priority."""
    overrides = {m[0]: m[1] for m in map(OVERRIDE.match, form) if m}
    best = min(overrides, key=lambda o: float(form[f"{o}.Priority"]))
    kept = {k: v for k, v in form.items() if not k.startswith("LaunchTemplateConfigs.")}
    for k, v in form.items():
        if k.startswith(best + "."):
            kept["LaunchTemplateConfigs.1.Overrides.1." + k[len(best) + 1:]] = v
        elif k.startswith(overrides[best] + ".LaunchTemplateSpecification."):
            kept["LaunchTemplateConfigs.1." + k[len(overrides[best]) + 1:]] = v
    return kept


def tags_for(form, kind):
    """What a request says about tags of one kind of thing."""
    for n in range(1, 10):
        if form.get(f"TagSpecification.{n}.ResourceType") == kind:
            prefix = f"TagSpecification.{n}.Tag."
            return [{"Key": v, "Value": form.get(k[:-3] + "Value", "")} for k, v in form.items() if k.startswith(prefix) and k.endswith(".Key")]
    return []


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        front, body = self.server.front, self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            status, headers, answer = front.agent(self.headers) if self.path == AGENT_PATH else front.answer(self.command, self.path, self.headers, body)
            self.close_connection = status == 0
            if status:
                self.reply(status, headers, answer)
        except (OSError, http.client.HTTPException):  # one of the two is gone
            self.close_connection = True

    def reply(self, status, headers, answer):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    do_POST = do_GET


class Front:
    """A context manager; `url` is where it is, `calls` what was asked, `refused` what was wrong with signatures, `late` what was signed with revoked keys."""

    def __init__(self, emulator, port, role):
        self.emulator, self.role, self.url = emulator, role, f"http://127.0.0.1:{port}"
        self.calls, self.refused, self.late, self.keys, self.revoked = [], [], [], {}, set()
        self.n_asked, self.lock = 0, threading.Lock()
        self.fleet_lost, self.lose_fleet = threading.Event(), False
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.server.daemon_threads, self.server.front = True, self
        self.ec2, self.sts = emulator.client("ec2"), emulator.client("sts")

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def lose_next_fleet(self):
        """The answer to the next launch will not reach the controller; fleet_lost is set once its machines run."""
        self.fleet_lost.clear()
        self.lose_fleet = True

    # ---- who asks ----

    def agent(self, headers):
        """Keys for whoever has the pod's token."""
        if headers["Authorization"] != AGENT_TOKEN:
            return 401, {}, b""
        with self.lock:
            self.n_asked += 1
            if self.n_asked % 3 == 0:
                return 500, {}, b""
            given = self.sts.assume_role(RoleArn=self.role, RoleSessionName="karpenter")["Credentials"]
            key = Key(given["AccessKeyId"], given["SecretAccessKey"], given["SessionToken"], now() + datetime.timedelta(seconds=GOOD_FOR_S))
            self.keys[key.id] = key
        return 200, {"Content-Type": "application/json"}, json.dumps({
            "AccessKeyId": key.id, "SecretAccessKey": key.secret, "Token": key.token, "AccountId": ACCOUNT,
            "Expiration": key.expires.strftime("%Y-%m-%dT%H:%M:%SZ")}).encode()

    def revoke(self):
        """All keys that there are end before their time."""
        self.revoked |= set(self.keys)

    def signature_problem(self, signed, method, path, headers, body):
        """What is wrong, or None."""
        key = self.keys.get(signed[1])
        if not key or headers["X-Amz-Security-Token"] != key.token:
            return "nobody was given these keys"
        if now() > key.expires:
            return "these keys have expired"
        request = AWSRequest(method, f"http://{headers['Host']}{path}", {h: headers[h] for h in signed[4].split(";")}, body)
        request.context["timestamp"] = headers["X-Amz-Date"]
        auth = SigV4Auth(Credentials(key.id, key.secret, key.token), signed[3], signed[2])
        if auth.signature(auth.string_to_sign(request, auth.canonical_request(request)), request) != signed[5]:
            return "botocore makes another signature"
        return None

    # ---- what is asked ----

    def answer(self, method, path, headers, body):
        """(status, headers, body); status 0: none."""
        signed = SIGNED.fullmatch(headers["Authorization"] or "")
        if not signed:
            self.refused.append(f"{method} {path}: no signature")
            return 403, {}, b""
        form = dict(urllib.parse.parse_qsl(body.decode(), keep_blank_values=True)) if "Action=" in body.decode(errors="replace") else {}
        action = form.get("Action") or (headers["X-Amz-Target"] or "").split(".")[-1] or f"{method} {path}"
        problem = self.signature_problem(signed, method, path, headers, body)
        if problem:
            self.refused.append(f"{signed[3]} {action}: {problem}")
            return refusal(signed[3], "SignatureDoesNotMatch", problem)
        if signed[1] in self.revoked:
            self.late.append(action)
            return refusal(signed[3], EXPIRED.get(signed[3], "ExpiredTokenException"), "the security token included in the request is expired")
        launch = action == "CreateFleet" and form.get("DryRun") != "true"
        if launch:
            body = urllib.parse.urlencode(cheapest(form)).encode()
        status, answer_headers, answer = self.forward(method, path, headers, body)
        if launch and status == 200:
            self.finish_launch(form, cheapest(form)["LaunchTemplateConfigs.1.LaunchTemplateSpecification.LaunchTemplateName"], answer.decode())
        self.calls.append(Call(signed[3], action, status, signed[1]))
        if launch and self.lose_fleet:
            self.lose_fleet = False
            self.fleet_lost.set()
            return 0, {}, b""
        return status, answer_headers, answer

    def forward(self, method, path, headers, body):
        c = http.client.HTTPConnection("127.0.0.1", self.emulator.port, timeout=120)
        try:
            c.request(method, path, body or None, {k: v for k, v in headers.items() if k.lower() not in ("content-length", "connection", "expect")})
            answer = c.getresponse()
            kept = ("content-type", "x-amzn-errortype", "x-amzn-requestid", "x-amzn-query-error", "date")
            return answer.status, {k: v for k, v in answer.getheaders() if k.lower() in kept}, answer.read()
        finally:
            c.close()

    def finish_launch(self, form, template, answer):
        """Gives the machines of a fleet what their launch template and the request say, where moto does not."""
        data = self.ec2.describe_launch_template_versions(LaunchTemplateName=template, Versions=["$Latest"])["LaunchTemplateVersions"][0]["LaunchTemplateData"]
        ids = re.findall(r"<item>(i-[0-9a-f]+)</item>", answer)
        for i in ids:
            self.ec2.modify_instance_attribute(InstanceId=i, Groups=data["NetworkInterfaces"][0]["Groups"])
            self.ec2.associate_iam_instance_profile(InstanceId=i, IamInstanceProfile={"Name": data["IamInstanceProfile"]["Name"]})
        volumes = self.ec2.describe_volumes(Filters=[{"Name": "attachment.instance-id", "Values": ids}])["Volumes"] if ids else []
        if volumes:
            self.ec2.create_tags(Resources=[v["VolumeId"] for v in volumes], Tags=tags_for(form, "volume"))
