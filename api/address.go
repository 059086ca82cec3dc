package api

import (
	"net"
	"net/netip"

	"github.com/labstack/echo/v4"
)

// clientAddress extracts a request's address: that of the connection or, if a trusted
// proxy made it, the last address in X-Forwarded-For that is no trusted proxy's. Each
// proxy appends its client, so what a client claims stands further left and is not
// reached. If all are trusted, it is the first. A chain with a part that is not an
// address, such as one with a port or a zone, does not count. Without proxies no
// header is read.
func clientAddress(proxies []netip.Prefix) echo.IPExtractor {
	if len(proxies) == 0 {
		return echo.ExtractIPDirect()
	}
	// Echo trusts private networks by default.
	trusted := []echo.TrustOption{echo.TrustLoopback(false), echo.TrustLinkLocal(false), echo.TrustPrivateNet(false)}
	for _, proxy := range proxies {
		address := proxy.Masked().Addr()
		trusted = append(trusted, echo.TrustIPRange(&net.IPNet{IP: address.AsSlice(), Mask: net.CIDRMask(proxy.Bits(), address.BitLen())}))
	}
	return echo.ExtractIPFromXFFHeader(trusted...)
}

// addressOf is the address that limits count a request by: an IPv4 address, or the
// network of an IPv6 one, of which each client has very many. Behind proxies that
// are not trusted, all unknown callers share an address.
func addressOf(c echo.Context) string {
	from := c.RealIP()
	if from == "" {
		return c.Request().RemoteAddr // not of a network
	}
	return withNetwork(from)
}

// withNetwork replaces an IPv6 address by its network.
func withNetwork(host string) string {
	address, err := netip.ParseAddr(host)
	if err != nil {
		return host
	}
	address = address.Unmap().WithZone("")
	if address.Is6() {
		network, err := address.Prefix(64)
		if err == nil {
			return network.String()
		}
	}
	return address.String()
}
