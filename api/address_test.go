package api

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"
)

// resolvedAddress is the address that the API assigns to a request on a connection from
// an address, with these lines of X-Forwarded-For. proxies are separated by spaces.
func resolvedAddress(t *testing.T, proxies, from string, forwarded ...string) string {
	t.Helper()
	var trusted []netip.Prefix
	for proxy := range strings.FieldsSeq(proxies) {
		trusted = append(trusted, netip.MustParsePrefix(proxy))
	}
	e := echo.New()
	e.IPExtractor = clientAddress(trusted)
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
	request.RemoteAddr = from
	for _, line := range forwarded {
		request.Header.Add("X-Forwarded-For", line)
	}
	for _, other := range []string{"X-Real-Ip", "Forwarded", "X-Client-Ip", "True-Client-Ip"} { // which are never read
		request.Header.Set(other, "for=192.0.2.99")
	}
	return addressOf(e.NewContext(request, httptest.NewRecorder()))
}

func TestAddress_OfAConnection_IsAHostOrANetwork(t *testing.T) {
	t.Parallel()
	for from, want := range map[string]string{
		"192.0.2.7:1234": "192.0.2.7", "[::ffff:192.0.2.7]:99": "192.0.2.7", "[2001:db8:1:2:3:4:5:6]:80": "2001:db8:1:2::/64",
		"[fe80::1%eth0]:80": "fe80::/64", "@": "@", "name:80": "name",
	} {
		if got := resolvedAddress(t, "", from); got != want {
			t.Errorf("%s is %s, want %s", from, got, want)
		}
	}
}

func TestAddress_BehindProxies_IsTheClients(t *testing.T) {
	t.Parallel()
	const proxy, client, forged = "10.0.0.1:4000", "203.0.113.7", "198.51.100.66"
	for name, row := range map[string]struct {
		trusted, from string
		forwarded     []string
		want          string
	}{
		// Who is not named is not believed.
		"nobody is trusted":                      {"", proxy, []string{client}, "10.0.0.1"},
		"nobody, on this machine":                {"", "127.0.0.1:4000", []string{client}, "127.0.0.1"},
		"another proxy is trusted":               {"10.0.0.2/32", proxy, []string{client}, "10.0.0.1"},
		"the world's own, with a header":         {"10.0.0.0/8", client + ":4000", []string{forged}, client},
		"loopback is not trusted by default":     {"10.0.0.0/8", "127.0.0.1:4000", []string{client}, "127.0.0.1"},
		"link-local is not trusted by default":   {"10.0.0.0/8", "169.254.1.1:4000", []string{client}, "169.254.1.1"},
		"nor are private networks":               {"10.0.0.0/8", "192.168.1.1:4000", []string{client}, "192.168.1.1"},
		"a private address in the chain":         {"10.0.0.0/8", proxy, []string{client + ", 192.168.1.1"}, "192.168.1.1"},
		"no address of a network, with a header": {"10.0.0.0/8", "@", []string{client}, "@"},

		// Who is named says for whom it asks.
		"a proxy":                          {"10.0.0.1/32", proxy, []string{client}, client},
		"a proxy of a network":             {"192.0.2.0/24 10.0.0.0/8", proxy, []string{client}, client},
		"a proxy that says nothing":        {"10.0.0.1/32", proxy, nil, "10.0.0.1"},
		"a proxy on an IPv6 socket":        {"10.0.0.1/32", "[::ffff:10.0.0.1]:4000", []string{client}, client},
		"two proxies":                      {"10.0.0.0/8", proxy, []string{client + ",10.0.0.2"}, client},
		"two proxies, one written as IPv6": {"10.0.0.0/8", proxy, []string{client + ", ::ffff:10.0.0.2"}, client},
		"two proxies, each with a line":    {"10.0.0.0/8", proxy, []string{client, "10.0.0.2"}, client},
		"the second proxy is not trusted":  {"10.0.0.1/32", proxy, []string{client + ", 10.0.0.2"}, "10.0.0.2"},
		"a proxy that asks for itself":     {"10.0.0.0/8", proxy, []string{"10.0.0.3, 10.0.0.2"}, "10.0.0.3"},
		"Cloud Run":                        {"169.254.0.0/16", "169.254.169.126:4000", []string{client}, client},
		"Cloud Run behind a load balancer": {
			"169.254.0.0/16 192.0.2.80/32", "169.254.169.126:4000", []string{client + ",192.0.2.80"}, client,
		},
		"round a load balancer into Cloud Run": {
			"169.254.0.0/16 192.0.2.80/32", "169.254.169.126:4000", []string{forged + ",192.0.2.80," + client}, client,
		},

		// What a caller claims stands left of what a proxy says.
		"a forged part":                     {"10.0.0.0/8", proxy, []string{forged + ", " + client}, client},
		"a forged line":                     {"10.0.0.0/8", proxy, []string{forged, client}, client},
		"a forged chain of proxies":         {"10.0.0.0/8", proxy, []string{forged + ", 10.0.0.9, 10.0.0.1, " + client}, client},
		"a forged proxy alone":              {"10.0.0.0/8", proxy, []string{"10.0.0.9, " + client}, client},
		"nonsense in the forged part":       {"10.0.0.0/8", proxy, []string{"nonsense,,\x00, " + client}, client},
		"a long forged part":                {"10.0.0.0/8", proxy, []string{strings.Repeat(forged+",", 4000) + client}, client},
		"a forged part behind two proxies":  {"10.0.0.0/8", proxy, []string{forged + "," + client + ",10.0.0.2"}, client},
		"a forged part in front of an IPv6": {"fd00::/8", "[fd00::1]:4000", []string{forged + ", 2001:db8:1:2::5"}, "2001:db8:1:2::/64"},

		// A chain that cannot be read is not believed.
		"nonsense":                        {"10.0.0.0/8", proxy, []string{"nonsense"}, "10.0.0.1"},
		"unknown":                         {"10.0.0.0/8", proxy, []string{"unknown"}, "10.0.0.1"},
		"an empty line":                   {"10.0.0.0/8", proxy, []string{""}, "10.0.0.1"},
		"commas alone":                    {"10.0.0.0/8", proxy, []string{",,,"}, "10.0.0.1"},
		"nothing behind the last comma":   {"10.0.0.0/8", proxy, []string{client + ","}, "10.0.0.1"},
		"an address with a port":          {"10.0.0.0/8", proxy, []string{client + ":55555"}, "10.0.0.1"},
		"a name":                          {"10.0.0.0/8", proxy, []string{"localhost"}, "10.0.0.1"},
		"numbers that are none":           {"10.0.0.0/8", proxy, []string{"203.0.113.700"}, "10.0.0.1"},
		"nonsense between proxies":        {"10.0.0.0/8", proxy, []string{client + ", nonsense, 10.0.0.2"}, "10.0.0.1"},
		"a proxy of a link, with a zone":  {"fe80::/10", "[fe80::1%eth0]:4000", []string{client}, "fe80::/64"},
		"a connection that has a name":    {"10.0.0.0/8", "name:80", []string{client}, "name"},
		"a zone in the chain":             {"10.0.0.0/8", proxy, []string{"fe80::1%eth0"}, "10.0.0.1"},
		"an address in an odd bracketing": {"10.0.0.0/8", proxy, []string{"[[203.0.113.7"}, "10.0.0.1"},

		// An IPv6 address counts by its network, from any source.
		"IPv6":                        {"10.0.0.0/8", proxy, []string{"2001:db8:1:2:3:4:5:6"}, "2001:db8:1:2::/64"},
		"IPv6 in brackets":            {"10.0.0.0/8", proxy, []string{"[2001:db8:1:2:3:4:5:6]"}, "2001:db8:1:2::/64"},
		"IPv6, written out":           {"10.0.0.0/8", proxy, []string{"2001:0DB8:0001:0002:0000:0000:0000:0009"}, "2001:db8:1:2::/64"},
		"IPv4 as IPv6":                {"10.0.0.0/8", proxy, []string{"::ffff:203.0.113.7"}, client},
		"an IPv6 proxy":               {"2001:db8::1/128", "[2001:db8::1]:4000", []string{client}, client},
		"another of its network":      {"2001:db8::1/128", "[2001:db8::2]:4000", []string{client}, "2001:db8::/64"},
		"an IPv6 proxy of a network":  {"fd00::/8", "[fd12:3456::1]:4000", []string{"2001:db8:1:2::5, fd00::2"}, "2001:db8:1:2::/64"},
		"IPv6 proxies all the way":    {"fd00::/8", "[fd00::1]:4000", []string{"fd00:0:0:7::3, fd00::2"}, "fd00:0:0:7::/64"},
		"IPv6 loopback, when trusted": {"::1/128", "[::1]:4000", []string{client}, client},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := resolvedAddress(t, row.trusted, row.from, row.forwarded...); got != row.want {
				t.Errorf("from %s with %q it is %s, want %s", row.from, row.forwarded, got, row.want)
			}
		})
	}
}
