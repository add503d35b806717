# SPDX-License-Identifier: Apache-2.0
"""Lists of directories as servers write them: rules of a FaultyServer over the files that it has."""

import email.utils
import hashlib
import hmac
import time
import urllib.parse
import xml.sax.saxutils

MODIFIED = 1_700_000_000


def names_below(files, directory):
    """{name: size, or None for a directory} of what lies in a directory, by the decoded paths of files."""
    found = {}
    for path, file in files.items():
        path = urllib.parse.unquote(path)
        if path.startswith(directory):
            name, slash, _ = path[len(directory):].partition("/")
            found[name] = None if slash else len(file.content)
    return found


def response(href, size=None):
    """One response of PROPFIND, of a directory if it has no size."""
    kind = "<resourcetype><collection/></resourcetype>" if size is None else (
        f"<resourcetype/><getcontentlength>{size}</getcontentlength>"
        f"<getlastmodified>{email.utils.formatdate(MODIFIED, usegmt=True)}</getlastmodified>")
    return (f"<response><href>{xml.sax.saxutils.escape(href)}</href><propstat><prop>{kind}</prop>"
            "<status>HTTP/1.1 200 OK</status></propstat></response>")


def multistatus(*responses):
    return ('<?xml version="1.0"?><multistatus xmlns="DAV:">' + "".join(responses) + "</multistatus>").encode()


def send_xml(exchange, body, code=207):
    exchange.send(code, body, {"Content-Type": "application/xml"}, validators=False)


def dav(exchange):
    """The right answer to PROPFIND."""
    if exchange.request.method != "PROPFIND":
        return False
    path = exchange.request.path.partition("?")[0]
    directory = urllib.parse.unquote(path)
    found = names_below(exchange.server.files, directory if directory.endswith("/") else directory + "/")
    if not found:
        return exchange.send(404)
    base = path.rstrip("/") + "/"
    return send_xml(exchange, multistatus(response(base), *(response(base + urllib.parse.quote(name), size)
                                                            for name, size in found.items())))


def answering(body, code=207):
    """PROPFIND gets these bytes."""
    def answer(exchange):
        if exchange.request.method != "PROPFIND":
            return False
        return send_xml(exchange, body, code)
    return answer


def of_lists(rule):
    """A rule of any kind for requests of lists alone."""
    return lambda exchange: rule(exchange) if exchange.request.method == "PROPFIND" else False


def s3(page_size):
    """The right answer to ListObjectsV2 of any bucket, in pages."""
    def answer(exchange):
        path, _, query = exchange.request.path.partition("?")
        asked = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        if asked.get("list-type") != "2":
            return False
        prefix = asked.get("prefix", "")
        found = sorted(names_below(exchange.server.files, path + prefix).items())
        begin = int(asked.get("continuation-token", "at 0").partition(" ")[2])
        body = f"<IsTruncated>{'true' if begin + page_size < len(found) else 'false'}</IsTruncated><EncodingType>url</EncodingType>"
        if begin + page_size < len(found):
            body += f"<NextContinuationToken>at {begin + page_size}</NextContinuationToken>"
        date = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(MODIFIED))
        for name, size in found[begin : begin + page_size]:
            key = urllib.parse.quote_plus(prefix + name, safe="/")
            body += (f"<CommonPrefixes><Prefix>{key}/</Prefix></CommonPrefixes>" if size is None else
                     f"<Contents><Key>{key}</Key><LastModified>{date}</LastModified><Size>{size}</Size></Contents>")
        return send_xml(exchange, s3_result(body), 200)
    return answer


def s3_result(body):
    return ('<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">' + body +
            "</ListBucketResult>").encode()


def is_signed(request, key_id, secret, region):
    """Whether a request to S3 has the right signature (AWS Signature Version 4), computed from its specification."""
    method, _, rest = request.headers.get("authorization", "").partition(" ")
    if method != "AWS4-HMAC-SHA256":
        return False
    fields = dict(field.strip().split("=", 1) for field in rest.split(","))
    moment = request.headers["x-amz-date"]
    scope = f"{moment[:8]}/{region}/s3/aws4_request"
    if fields["Credential"] != f"{key_id}/{scope}" or "x-amz-content-sha256" not in fields["SignedHeaders"]:
        return False
    path, _, query = request.path.partition("?")
    # Its parameters have to be sorted.
    query = "&".join(sorted(query.split("&")))
    heads = "".join(f"{name}:{request.headers[name].strip()}\n" for name in fields["SignedHeaders"].split(";"))
    canonical = "\n".join([request.method, path, query, heads, fields["SignedHeaders"], "UNSIGNED-PAYLOAD"])
    text = "\n".join(["AWS4-HMAC-SHA256", moment, scope, hashlib.sha256(canonical.encode()).hexdigest()])
    key = ("AWS4" + secret).encode()
    for part in (moment[:8], region, "s3", "aws4_request"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest() == fields["Signature"]
