"""A small client of the cloud APIs for tests: both signatures, nothing but the standard library.

    client = Client("127.0.0.1:1234")
    answer = client.slb("DescribeLoadBalancers", PageNumber=1, PageSize=10)
"""

import base64
import datetime
import hashlib
import hmac
import json
import urllib.parse
import uuid

from . import world

VERSIONS = {"slb": "2014-05-15", "ecs": "2014-05-26", "vpc": "2016-04-28", "nlb": "2022-04-30", "sts": "2015-04-01",
            "cas": "2020-06-19", "eflo": "2022-12-15"}


class CloudError(Exception):
    """An error answer: http, code, message, body."""

    def __init__(self, http_status, body):
        self.http = http_status
        self.body = body
        self.code = body.get("Code", "")
        self.message = body.get("Message", "")
        super().__init__(f"{http_status} {self.code}: {self.message}")


def escape(text):
    return urllib.parse.quote(str(text), safe="-_.~")


def flatten(params, prefix=""):
    """Nested dicts and lists as the APIs want them: Tag.1.Key=..."""
    flat = {}
    for name, value in params.items():
        name = prefix + name
        if isinstance(value, dict):
            flat.update(flatten(value, name + "."))
        elif isinstance(value, (list, tuple)):
            flat.update(flatten({str(i + 1): item for i, item in enumerate(value)}, name + "."))
        elif isinstance(value, bool):
            flat[name] = "true" if value else "false"
        elif value is not None:
            flat[name] = str(value)
    return flat


def encode(params):
    return "&".join(f"{escape(k)}={escape(v)}" for k, v in sorted(params.items()))


def now(offset=0):
    moment = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=offset)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


class Client:
    def __init__(self, address, key="testAccessKeyId", secret="testAccessKeySecret", token=None, style="v3",
                 region="cn-hangzhou"):
        self.address = address
        self.http = world.Http("http://" + address)
        self.key = key
        self.secret = secret
        self.token = token
        self.style = style
        self.region = region
        self.clock_offset = 0
        self.nonce = None

    def __getattr__(self, product):
        if product not in VERSIONS:
            raise AttributeError(product)
        return lambda action, **params: self.call(product, action, **params)

    def call(self, product, action, **params):
        """The answer; raises CloudError."""
        flat = flatten(params)
        if self.region:
            flat.setdefault("RegionId", self.region)
        if self.style == "v3":
            query, body, headers = self.sign_v3(VERSIONS[product], action, flat, in_body=False)
        elif self.style == "v3-body":
            query, body, headers = self.sign_v3(VERSIONS[product], action, flat, in_body=True)
        else:
            query, body, headers = self.sign_v1(VERSIONS[product], action, flat, in_body=self.style == "v1-body")
        return self.send("POST", "/" + ("?" + query if query else ""), body, headers)

    def send(self, method, path, body="", headers=None):
        answer, text = self.http.answer(method, path, body.encode(), headers or {})
        data = json.loads(text)
        if answer.status >= 400:
            raise CloudError(answer.status, data)
        return data

    def sign_v3(self, version, action, flat, in_body):
        query = "" if in_body else encode(flat)
        body = encode(flat) if in_body else ""
        headers = {
            "host": self.address,
            "x-acs-action": action,
            "x-acs-version": version,
            "x-acs-date": now(self.clock_offset),
            "x-acs-signature-nonce": self.nonce or uuid.uuid4().hex,
            "x-acs-content-sha256": hashlib.sha256(body.encode()).hexdigest(),
        }
        if self.token:
            headers["x-acs-accesskey-id"] = self.key
            headers["x-acs-security-token"] = self.token
        if body:
            headers["content-type"] = "application/x-www-form-urlencoded"
        names = ";".join(sorted(headers))
        lines = "".join(f"{name}:{headers[name]}\n" for name in sorted(headers))
        canonical = "\n".join(["POST", "/", query, lines, names, headers["x-acs-content-sha256"]])
        text = "ACS3-HMAC-SHA256\n" + hashlib.sha256(canonical.encode()).hexdigest()
        signature = hmac.new(self.secret.encode(), text.encode(), hashlib.sha256).hexdigest()
        headers["authorization"] = f"ACS3-HMAC-SHA256 Credential={self.key},SignedHeaders={names},Signature={signature}"
        return query, body, headers

    def sign_v1(self, version, action, flat, in_body):
        flat = dict(flat, Action=action, Version=version, Format="JSON", AccessKeyId=self.key,
                    SignatureMethod="HMAC-SHA1", SignatureVersion="1.0", SignatureType="",
                    SignatureNonce=self.nonce or uuid.uuid4().hex, Timestamp=now(self.clock_offset))
        if self.token:
            flat["SecurityToken"] = self.token
        text = "POST&%2F&" + escape(encode(flat))
        digest = hmac.new((self.secret + "&").encode(), text.encode(), hashlib.sha1).digest()
        flat["Signature"] = base64.b64encode(digest).decode()
        if in_body:
            return "", encode(flat), {"content-type": "application/x-www-form-urlencoded"}
        return encode(flat), "", {}
