package api

import (
	"net"
	"net/netip"

	"github.com/labstack/echo/v4"
)

// callersBehind gives the address that a request is from: that of its connection,
// or where a proxy that is trusted has made it, the last address in
// X-Forwarded-For that is no such proxy's. Each proxy writes whom it was asked by
// behind what it was told, so whatever somebody claims for themselves stands
// further left, and is not reached. Where all are such proxies, it is the
// first of them. A chain of which a part that had to be believed is no address, as
// one with a port or an IPv6 connection with a zone, counts for nothing: then it is
// the connection's again. Without proxies no header is read.
func callersBehind(proxies []netip.Prefix) echo.IPExtractor {
	if len(proxies) == 0 {
		return echo.ExtractIPDirect()
	}
	// Echo trusts every network that is not the world's, unless it is told not to.
	trusted := []echo.TrustOption{echo.TrustLoopback(false), echo.TrustLinkLocal(false), echo.TrustPrivateNet(false)}
	for _, proxy := range proxies {
		address := proxy.Masked().Addr()
		trusted = append(trusted, echo.TrustIPRange(&net.IPNet{IP: address.AsSlice(), Mask: net.CIDRMask(proxy.Bits(), address.BitLen())}))
	}
	return echo.ExtractIPFromXFFHeader(trusted...)
}

// addressOf is who a request is from, for limits: an IPv4 address, or the network
// of an IPv6 one, of which everybody has very many. Options.TrustedProxies says
// which proxies are believed when they say for whom they ask; behind others, all
// who are not signed in share an address.
func addressOf(c echo.Context) string {
	from := c.RealIP()
	if from == "" {
		return c.Request().RemoteAddr // of no network
	}
	return withNetwork(from)
}

// withNetwork is an IPv4 address, or the network of an IPv6 one; anything else as
// it is.
func withNetwork(host string) string {
	address, err := netip.ParseAddr(host)
	if err != nil {
		return host
	}
	if address = address.Unmap().WithZone(""); address.Is6() {
		network, err := address.Prefix(64)
		if err == nil {
			return network.String()
		}
	}
	return address.String()
}
