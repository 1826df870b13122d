"""Our side of the wire to AWS, shown to AWS's own models and to an emulator.

tests/unit/aws/requests.txt has every request that the program makes, as its unit test makes them. Here each is taken apart with the model of its service
(botocore), which must know every parameter, its type and its words; put together again by botocore's serializer, it must be the same request. Then moto gets it
and must understand it, where it knows the call at all. tests/unit/aws/shapes.txt has every element of an answer that the program looks at: the models must
know it, of that kind.
"""
import base64
import json
import os
import re
import urllib.error
import urllib.parse
import urllib.request

import botocore.session
from botocore.serialize import create_serializer
from botocore.validate import ParamValidator

from cluster import free_ports
from emulator import Emulator

HERE = os.path.dirname(os.path.abspath(__file__))
REQUESTS = os.path.join(os.path.dirname(HERE), "unit/aws/requests.txt")
SHAPES = os.path.join(os.path.dirname(HERE), "unit/aws/shapes.txt")
TOKEN = "01234567-89ab-4cde-8f01-23456789abcd"
# Answers that say: understood, but there is no such thing here, or it would have been done.
FINE = re.compile(r"NotFound|NotExist|NoSuchEntity|DryRunOperation|LimitExceeded|DeleteConflict|AlreadyExists")
MOTO_LACKS = {"DescribeCapacityReservations", "DescribePlacementGroups", "GetProducts", "GetManagedResource"}
# moto answers these with words of its own for things that do not exist.
MOTO_SAYS = {("DeleteLaunchTemplate", "MissingParameter")}


def requests():
    """(service, method, path, target, body) of every request in the file."""
    for block in open(REQUESTS, encoding="utf-8").read().split("== ")[1:]:
        head, *lines = block.rstrip("\n").split("\n")
        service, method, path, target = (head.split(" ") + [""])[:4]
        body = "\n".join(lines) if target else "&".join(lines)
        yield service, method, path, target, body.replace("ClientToken=TOKEN", f"ClientToken={TOKEN}")


def operation(model, method, path, target, body):
    """The operation that a request means."""
    if target:
        return model.operation_model(target.split(".")[-1])
    if body:
        return model.operation_model(urllib.parse.parse_qs(body)["Action"][0])
    for name in model.operation_names:
        http = model.operation_model(name).http
        pattern = re.sub(r"\{[^}]*\}", "[^/]+", http["requestUri"].split("?")[0])
        if http["method"] == method and re.fullmatch(pattern, path):
            return model.operation_model(name)
    raise ValueError(f"no operation is {method} {path}")


# ---- a form, read with a model ----


class Form:
    """Takes parameters out of a form; what is left was not understood."""

    def __init__(self, pairs, ec2):
        self.left, self.ec2, self.problems = dict(pairs), ec2, []

    def name(self, name, shape):
        said = shape.serialization
        if not self.ec2:
            return said.get("name", name)
        if "queryName" in said:
            return said["queryName"]
        return said["name"][0].upper() + said["name"][1:] if "name" in said else name

    def has(self, prefix):
        return any(key == prefix or key.startswith(prefix + ".") for key in self.left)

    def members(self, prefix, shape):
        flat = self.ec2 or shape.serialization.get("flattened")
        n = 1
        while True:
            item = f"{prefix}.{n}" if flat else f"{prefix}.{shape.member.serialization.get('name', 'member')}.{n}"
            if not self.has(item):
                return
            yield item
            n += 1

    def take(self, prefix, shape):
        if shape.type_name == "structure":
            dot = prefix + "." if prefix else ""
            names = {member: dot + self.name(member, of) for member, of in shape.members.items()}
            return {member: self.take(key, shape.members[member]) for member, key in names.items() if self.has(key)}
        if shape.type_name == "list":
            return [self.take(item, shape.member) for item in self.members(prefix, shape)]
        return self.scalar(prefix, shape)

    def scalar(self, prefix, shape):
        text = self.left.pop(prefix)
        words = getattr(shape, "enum", None)
        if words and text not in words:
            self.problems.append(f"{prefix}={text} is none of {', '.join(words)}")
        if shape.type_name == "boolean":
            return {"true": True, "false": False}[text]
        if shape.type_name in ("integer", "long"):
            return int(text)
        if shape.type_name in ("float", "double"):
            return float(text)
        if prefix.endswith("UserData"):
            base64.b64decode(text, validate=True)
        return text


def same(ours, theirs):
    """Two texts of one value: numbers may be written in several ways."""
    if str(ours) == str(theirs):
        return True
    try:
        return float(ours) == float(theirs)
    except ValueError:
        return False


def check_form(op, body, ec2):
    pairs = urllib.parse.parse_qsl(body, keep_blank_values=True, strict_parsing=True)
    if len(dict(pairs)) != len(pairs):
        return "a parameter appears twice", None
    form = Form([p for p in pairs if p[0] not in ("Action", "Version")], ec2)
    params = form.take("", op.input_shape)
    if form.left:
        return f"the model does not know {', '.join(form.left)}", None
    if form.problems:
        return "; ".join(form.problems), None
    return None, params


def check_request(session, request):
    """The problem with a request, or None; and the operation's name."""
    service, method, path, target, body = request
    model = session.get_service_model(service)
    op = operation(model, method, path, target, body)
    protocol = model.resolved_protocol
    if protocol in ("ec2", "query"):
        problem, params = check_form(op, body, protocol == "ec2")
        if problem:
            return problem, op.name
    elif target:
        params = json.loads(body)
    else:
        names = re.findall(r"\{([^}]*)\}", op.http["requestUri"])
        values = re.fullmatch(re.sub(r"\{[^}]*\}", "([^/]+)", op.http["requestUri"]), path).groups()
        by_wire = {of.serialization.get("name", name): name for name, of in op.input_shape.members.items()}
        params = {by_wire[name]: urllib.parse.unquote(value) for name, value in zip(names, values)}
    report = ParamValidator().validate(params, op.input_shape)
    if report.has_errors():
        return report.generate_report(), op.name
    made = create_serializer(protocol, include_validation=False).serialize_to_request(params, op)
    if made["method"] != method or made["url_path"] != path:
        return f"{method} {path}, botocore makes {made['method']} {made['url_path']}", op.name
    if target and made["headers"]["X-Amz-Target"] != target:
        return f"target {target}, botocore makes {made['headers']['X-Amz-Target']}", op.name
    return compare(protocol, body, made["body"]), op.name


def compare(protocol, ours, theirs):
    if protocol not in ("ec2", "query"):
        same_json = (json.loads(ours) if ours else {}) == (json.loads(theirs) if theirs else {})
        return None if same_json else f"{ours}\nbotocore makes\n{theirs}"
    pairs = dict(urllib.parse.parse_qsl(ours, keep_blank_values=True))
    odd = [key for key in sorted(set(pairs) | set(theirs)) if not (key in pairs and key in theirs and same(pairs[key], theirs[key]))]
    return "\n".join(f"{key}: {pairs.get(key)!r}, botocore makes {theirs.get(key)!r}" for key in odd) or None


# ---- answers ----

KINDS = {
    "string": {"text", "any"},
    "integer": {"whole"},
    "long": {"whole"},
    "float": {"number"},
    "double": {"number"},
    "boolean": {"bool"},
    "timestamp": {"time"},
    "structure": {"map", "any"},
}

def answers():
    """(service, action, [(path, kind)]) of every answer in the file."""
    for block in open(SHAPES, encoding="utf-8").read().split("== ")[1:]:
        head, *lines = block.rstrip("\n").split("\n")
        yield *head.split(" "), [line.split(" ") for line in lines]


def check_answer(session, service, action, fields):
    """The problem with what is read of an answer, or None."""
    model = session.get_service_model(service)
    op = model.operation_model(action)
    problems = []
    for path, kind in fields:
        shape, steps = op.output_shape, path.split("/")
        if steps[0] == op.output_shape.serialization.get("resultWrapper"):
            steps = steps[1:]
        for step in steps:
            name, every = step.removesuffix("[]"), step.endswith("[]")
            members = shape.members if shape.type_name == "structure" else {}
            by_wire = {of.serialization.get("name", member): of for member, of in members.items()}
            shape = by_wire.get(name)
            if shape is None or (shape.type_name == "list") != every:
                problems.append(f"{path}: the model has no {'list' if every else 'member'} {name}")
                break
            shape = shape.member if every else shape
        else:
            if kind not in KINDS.get(shape.type_name, ()):
                problems.append(f"{path} is a {shape.type_name} in the model, we want {kind}")
    return "\n".join(problems) or None


# ---- the emulator ----


class Moto(Emulator):
    def ask(self, request):
        """Status and error code."""
        service, method, path, target, body = request
        headers = {
            "Authorization": f"AWS4-HMAC-SHA256 Credential=AKID/20260101/eu-west-3/{service}/aws4_request, SignedHeaders=host, Signature=0",
            "Host": f"{service}.eu-west-3.amazonaws.com",
        }
        if body:
            headers["Content-Type"] = "application/x-amz-json-1.1" if target else "application/x-www-form-urlencoded; charset=utf-8"
        if target:
            headers["X-Amz-Target"] = target
        call = urllib.request.Request(self.url + path, method=method, headers=headers, data=body.encode() if body else None)
        try:
            with urllib.request.urlopen(call, timeout=120) as answer:
                answer.read()
                return answer.status, ""
        except urllib.error.HTTPError as e:
            text = e.read().decode(errors="replace")
            code = re.search(r"<Code>([^<]*)</Code>", text) or re.search(r'"__type": *"(?:[^"#]*#)?([^"]*)"', text)
            return e.code, code[1] if code else e.headers.get("x-amzn-errortype") or text[:200]


def check_moto(moto, request, name):
    if name in MOTO_LACKS:
        return None
    status, code = moto.ask(request)
    if status < 300 or FINE.search(code) or (name, code) in MOTO_SAYS:
        return None
    return f"moto answers {status} {code}"


# ---- all of it ----


def cases():
    """(name, problem or None) of every answer and request."""
    session = botocore.session.get_session()
    for service, action, fields in answers():
        yield f"aws_wire/answer {service} {action}", check_answer(session, service, action, fields)
    with Moto(free_ports(1)[0]) as moto:
        for n, request in enumerate(requests(), 1):
            try:
                problem, name = check_request(session, request)
                problem = problem or check_moto(moto, request, name)
            except Exception as e:  # what the models do not know at all
                problem, name = f"{type(e).__name__}: {e}", request[3] or request[4].split("&")[0]
            yield f"aws_wire/request {n:02} {request[0]} {name}", problem
