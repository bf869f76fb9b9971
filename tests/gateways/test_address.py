"""Base URLs and proxies that an admin may set, and everything clever that is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.gateways.address import BaseUrl, is_loopback
from mcsystem.gateways.openai import check_proxy
from mcsystem.gateways.transport import Exchange, make_request

GOOD = {
    "https://api.deepseek.com": ("https", "api.deepseek.com", 443, ""),
    "https://api.deepseek.com/": ("https", "api.deepseek.com", 443, ""),
    "HTTPS://API.DeepSeek.com/v1": ("https", "api.deepseek.com", 443, "/v1"),
    "https://api.example.org:8443/a/b-c_d/": ("https", "api.example.org", 8443, "/a/b-c_d"),
    "https://8.8.8.8/v1": ("https", "8.8.8.8", 443, "/v1"),
    "https://[2001:DB8::1]:444/v1": ("https", "2001:db8::1", 444, "/v1"),
    "https://例子.测试/v1": ("https", "xn--fsqu00a.xn--0zwm56d", 443, "/v1"),
    "http://localhost:11434/v1": ("http", "localhost", 11434, "/v1"),
    "http://127.0.0.1:8080/v1": ("http", "127.0.0.1", 8080, "/v1"),
    "http://127.9.9.9": ("http", "127.9.9.9", 80, ""),
    "http://[::1]:8080/v1": ("http", "::1", 8080, "/v1"),
}

BAD = {
    "": "not an https or http address",
    "api.deepseek.com": "not an https or http address",
    "ftp://api.deepseek.com": "not an https or http address",
    "file:///etc/passwd": "not an https or http address",
    "https:/api.deepseek.com": "not an https or http address",
    "https://": "host",
    "https://?": "query",
    "https://api.deepseek.com/v1?key=1": "query",
    "https://api.deepseek.com/v1#x": "fragment",
    "https://user:pw@api.deepseek.com": "user name",
    "https://api.deepseek.com@evil.example": "user name",
    "https://api.deepseek.com\\@evil.example": "backslash",
    "https://api.deepseek.com /v1": "white space",
    "https://api.deepseek.com/v1\n": "white space",
    "https://api.deepseek.com/v1\u3000": "white space",
    "https://api.deepseek.com/\x00": "control",
    "https://api%2edeepseek.com": "percent",
    "https://api.deepseek.com./v1": "host name",
    "https://-api.deepseek.com": "host name",
    "https://" + "a" * 64 + ".com": "host name",
    "https://a..b": "host name",
    "https://.": "host name",
    "https://api.deepseek.com:0": "port",
    "https://api.deepseek.com:65536": "port",
    "https://api.deepseek.com:": "port",
    "https://api.deepseek.com:44a": "port",
    "https://api.deepseek.com:٤٤٣": "port",
    "https://[fe80::1%25eth0]": "percent",
    "https://[::1": "IPv6",
    "https://[::1]x": "port",
    "https://[zz]": "IPv6",
    "https://2130706433": "IPv4",
    "https://0x7f000001": "IPv4",
    "https://127.1": "IPv4",
    "https://0177.0.0.1": "IPv4",
    "https://1.2.3.256": "IPv4",
    "http://api.deepseek.com": "use https",
    "http://192.168.1.10:11434": "use https",
    "http://localhost.evil.example": "use https",
    "http://127.0.0.1.evil.example": "use https",
    "http://[::ffff:127.0.0.1]": "use https",
    "http://0.0.0.0:11434": "use https",
    "https://api.deepseek.com/v1/../x": "dotted",
    "https://api.deepseek.com/./x": "dotted",
    "https://api.deepseek.com//v1": "dotted",
    "https://api.deepseek.com/v1//": "dotted",
    "https://api.deepseek.com/%2e%2e/x": "character",
    "https://api.deepseek.com/路径": "character",
    'https://api.deepseek.com/"': "character",
    "https://api.deepseek.com/v1/chat/completions": "leave out",
    "https://api.deepseek.com/v1/chat/completions/": "leave out",
    "https://api.deepseek.com/v1/models": "leave out",
    "https://api.deepseek.com/" + "a" * 2050: "not an https or http address",
}


@pytest.mark.parametrize("text", list(GOOD))
def test_plain_addresses_are_read(text: str) -> None:
    """Addresses with https anywhere, and http to this machine, are read into scheme, host, port and path."""
    base = BaseUrl.parse(text, field="model.baseUrl")
    assert (base.scheme, base.host, base.port, base.path) == GOOD[text]


@pytest.mark.parametrize("text", list(BAD))
def test_clever_addresses_are_refused_with_the_reason(text: str) -> None:
    """Each refusal names the field, what is expected and why, and never repeats the text (it may hold a password)."""
    with pytest.raises(AssistantError) as caught:
        BaseUrl.parse(text, field="model.baseUrl")
    assert caught.value.code is ErrorCode.MODEL_NOT_CONFIGURED
    assert caught.value.details["field"] == "model.baseUrl"
    assert BAD[text] in str(caught.value.details["reason"])
    assert "pw" not in str(caught.value)


@given(st.text(max_size=60), st.sampled_from(["", "https://", "http://", "https://a", "http://127.0.0.1"]))
def test_any_text_is_read_or_refused(text: str, start: str) -> None:
    """No text crashes the reader; what it takes gives an address that reads the same again."""
    try:
        base = BaseUrl.parse(start + text, field="f")
    except AssistantError as error:
        assert error.code is ErrorCode.MODEL_NOT_CONFIGURED
    else:
        assert BaseUrl.parse(base.url(""), field="f") == base
        assert base.scheme == "https" or is_loopback(base.host)


@pytest.mark.parametrize("text", list(GOOD))
def test_the_http_library_reads_addresses_as_we_do(text: str) -> None:
    """What was checked is where the request goes: same scheme, host and port, in the address and in the Host header."""
    base = BaseUrl.parse(text, field="f")
    request = make_request(Exchange("GET", base, "/models", None, None, 1), lambda: None, 1.0)
    assert request.url.raw_host.decode("ascii") == base.host
    assert request.headers["host"] == base.service
    assert request.url.raw_path.decode("ascii") == f"{base.path}/models"


def test_the_operation_is_appended_to_the_path() -> None:
    """The address of a request is the base plus the operation; usual ports are left out."""
    assert BaseUrl.parse("https://[::1]:9/v1/", field="f").url("/models") == "https://[::1]:9/v1/models"
    assert BaseUrl.parse("https://a.example:443", field="f").url("/models") == "https://a.example/models"


@pytest.mark.parametrize("text", ["", "http://127.0.0.1:7890", "https://proxy.example:8443", "http://10.0.0.1:3128/"])
def test_plain_proxies_are_taken(text: str) -> None:
    """No proxy, or a plain http or https one, anywhere."""
    check_proxy(text)


@pytest.mark.parametrize(
    "text", ["127.0.0.1:7890", "socks5://127.0.0.1:1080", "http://u:p@127.0.0.1", "http://a/b", "http://a b"]
)
def test_other_proxies_are_refused(text: str) -> None:
    """A proxy with a password (that would be a secret in a file), a path or another protocol is refused by field."""
    with pytest.raises(AssistantError) as caught:
        check_proxy(text)
    assert caught.value.details["field"] == "model.proxy"
