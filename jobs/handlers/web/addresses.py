"""Which IP addresses a job may connect to. No name is resolved here and nothing is sent."""

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

type Address = IPv4Address | IPv6Address
type Network = IPv4Network | IPv6Network

_NAT64 = IPv6Network("64:ff9b::/96")
_IPV4_COMPATIBLE = IPv6Network("::/96")
_IPV6_GLOBAL = IPv6Network("2000::/3")

# Ranges that `ipaddress` calls global, or whose reason deserves a better word than "private".
_NAMED: tuple[tuple[Network, str], ...] = (
    (IPv4Network("169.254.169.254/32"), "a cloud metadata service"),
    (IPv4Network("169.254.170.2/32"), "a cloud metadata service"),
    (IPv4Network("100.100.100.200/32"), "a cloud metadata service"),
    (IPv4Network("168.63.129.16/32"), "a cloud metadata service"),
    (IPv4Network("192.0.0.192/32"), "a cloud metadata service"),
    (IPv6Network("fd00:ec2::/32"), "a cloud metadata service"),
    (IPv6Network("fd20:ce::254/128"), "a cloud metadata service"),
    (IPv4Network("0.0.0.0/8"), "it means this machine"),
    (IPv4Network("100.64.0.0/10"), "an address shared behind a carrier's NAT"),
    (IPv4Network("192.0.0.0/24"), "a reserved address"),
    (IPv4Network("192.88.99.0/24"), "a reserved address"),
    (IPv6Network("2002::/16"), "a tunnel (6to4) to another address"),
    (IPv6Network("2001::/32"), "a tunnel (Teredo) to another address"),
    (IPv6Network("64:ff9b:1::/48"), "a local translation (NAT64) of another address"),
    (IPv6Network("fec0::/10"), "a private address"),
)


def why_refused(address: Address, allowed: Iterable[Network] = ()) -> str | None:
    """Why no job may connect to `address`, in words, or None if it may.

    An IPv6 address that carries an IPv4 address (mapped, compatible, NAT64) is judged as that one.
    `allowed` are the networks that an operator opened on purpose.
    """
    real = _embedded(address) or address
    if _is_in(address, allowed) or _is_in(real, allowed):
        return None
    return _reason(real)


def _is_in(address: Address, networks: Iterable[Network]) -> bool:
    # A scope (fe80::1%eth0) takes no part in the comparison.
    return any(address.version == network.version and address in network for network in networks)


def _embedded(address: Address) -> IPv4Address | None:
    if not isinstance(address, IPv6Address):
        return None
    if address.ipv4_mapped:
        return address.ipv4_mapped
    if address in _NAT64 or (address in _IPV4_COMPATIBLE and int(address) > 1):
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return None


def _reason(address: Address) -> str | None:
    for network, word in _NAMED:
        if _is_in(address, (network,)):
            return word
    for is_so, word in (
        (address.is_unspecified, "it means this machine"),
        (address.is_loopback, "a loopback address"),
        (address.is_link_local, "a link-local address"),
        (address.is_multicast, "a multicast address"),
        (address.is_private, "a private address"),
        (address.is_reserved or not address.is_global, "a reserved address"),
        (address.version == 6 and address not in _IPV6_GLOBAL, "a reserved address"),
    ):
        if is_so:
            return word
    return None
