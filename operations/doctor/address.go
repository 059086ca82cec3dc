package doctor

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"questscheduler/internal/config"
)

func checkPublicURL(ctx context.Context, d Doctor) []finding {
	address := d.Config.PublicURL
	if d.Config.Sync == config.SyncOff {
		return []finding{{fine, "public address", "not needed, since QS_SYNC is off and no calendar is followed"}}
	}
	if !d.isSet("QS_PUBLIC_URL", address) {
		return nil
	}
	pushes, host := address+d.PushPath, ""
	if u, err := url.Parse(address); err == nil {
		host = u.Hostname()
	}
	ip := net.ParseIP(host)
	switch {
	case host == "localhost" || ip.IsLoopback():
		return []finding{d.checkLocal(ctx, address)}
	case ip.IsPrivate() || ip.IsLinkLocalUnicast() || ip.IsUnspecified():
		return []finding{
			{
				warning, "public address",
				"QS_PUBLIC_URL is an address that Google cannot reach; give one that it can, or changes are found by the fallback sweep only",
			},
		}
	default:
		return []finding{
			{fine, "public address", "Google pushes to " + pushes + "; from outside, curl -X POST " + pushes + " is to answer with 401"},
		}
	}
}

// checkLocal tries an address on this machine, where the server may run.
func (d Doctor) checkLocal(ctx context.Context, address string) finding {
	if d.Config.GoogleEndpoint == "" {
		return finding{
			warning, "public address",
			"QS_PUBLIC_URL is on this machine, where Google cannot reach it; give one that it can, or set QS_SYNC=off",
		}
	}
	status, err := d.get(ctx, address+"/healthz", "")
	if err != nil || status != http.StatusOK {
		return finding{warning, "public address", "nothing answers at " + address + "/healthz; start the server, or correct QS_PUBLIC_URL"}
	}
	return finding{fine, "public address", address + " answers"}
}

// checkProxies names the proxies that are trusted for the address of callers. This
// server speaks no TLS, so behind an https address there is a proxy.
func checkProxies(_ context.Context, d Doctor) []finding {
	switch {
	case d.faulty("QS_TRUSTED_PROXIES") || d.faulty("QS_PUBLIC_URL"):
		return nil
	case len(d.Config.TrustedProxies) > 0:
		return []finding{
			{
				fine, "proxies",
				fmt.Sprintf("%d addresses or networks are believed when they say in X-Forwarded-For for whom they ask", len(d.Config.TrustedProxies)),
			},
		}
	case strings.HasPrefix(d.Config.PublicURL, "https://"):
		return []finding{{warning, "proxies",
			"QS_PUBLIC_URL is https, so a proxy stands in front of this server, and all who come by it and are not signed in share " +
				"one rate limit; " +
				"name its address, as this server sees it, in QS_TRUSTED_PROXIES"}}
	default:
		return []finding{{fine, "proxies", "none is believed, since QS_TRUSTED_PROXIES is not set"}}
	}
}
