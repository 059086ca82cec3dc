package doctor

import (
	"context"
	"strings"

	"questscheduler/internal/config"
)

// googleClientSuffix ends the id of every OAuth client of Google.
const googleClientSuffix = ".apps.googleusercontent.com"

func checkGoogle(_ context.Context, d Doctor) []finding {
	id := d.Config.GoogleClientID
	switch {
	case !d.isSet("QS_GOOGLE_CLIENT_ID", id) || !d.isSet("QS_GOOGLE_CLIENT_SECRET", d.Config.GoogleClientSecret.Reveal()):
		return nil
	case d.Config.GoogleEndpoint != "":
		return []finding{{warning, "google", "QS_GOOGLE_ENDPOINT is set, so a simulator stands in for Google; unset it to follow real calendars"}}
	case !strings.HasSuffix(id, googleClientSuffix):
		return []finding{
			{
				warning, "google",
				"QS_GOOGLE_CLIENT_ID does not end with " + googleClientSuffix +
					", so no calendar can be linked; take it from the Google Cloud console, under Credentials",
			},
		}
	default:
		return []finding{{fine, "google", "the OAuth client is set"}}
	}
}

// checkRedirect names the address that the OAuth client has to list; only Google
// knows whether it does.
func checkRedirect(_ context.Context, d Doctor) []finding {
	switch {
	case d.faulty("QS_PUBLIC_URL") || d.faulty("QS_ADDR") || d.Config.GoogleEndpoint != "" || d.Config.GoogleClientID == "":
		return nil
	case d.Config.PublicURL == "":
		return []finding{{warning, "redirect URI", "people can link accounts from this machine alone, by " + d.Redirect +
			"; set QS_PUBLIC_URL to where their browsers reach this server"}}
	default:
		return []finding{{fine, "redirect URI", "in the Google Cloud console, under Credentials, the OAuth client has to name " + d.Redirect +
			" as an authorised redirect URI"}}
	}
}

func checkSync(_ context.Context, d Doctor) []finding {
	switch {
	case d.faulty("QS_SYNC"):
		return nil
	case d.Config.Sync == config.SyncObserve:
		return []finding{
			{
				warning, "sync",
				"QS_SYNC is observe: what calendars say is journaled and changes nothing; set it to on when the journals say what you expect",
			},
		}
	case d.Config.Sync == config.SyncOff:
		return []finding{{fine, "sync", "QS_SYNC is off: no calendar is followed; set it to on to follow them"}}
	default:
		return []finding{{fine, "sync", "calendars are followed"}}
	}
}
