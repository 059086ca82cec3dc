package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"questscheduler/fault"
	"questscheduler/internal/config"
	"questscheduler/internal/signin"
	"questscheduler/internal/store/firestore"
	"questscheduler/operations/transfer"
)

// checkSettings lists what is wrong with the settings. The other checks skip those.
func checkSettings(_ context.Context, d Doctor) []finding {
	if len(d.Problems) == 0 {
		return []finding{{fine, "settings", "all can be used"}}
	}
	var found []finding
	for _, problem := range d.Problems {
		found = append(found, finding{wrong, "settings", problem.Name + " " + problem.Fix})
	}
	return found
}

func checkStore(ctx context.Context, d Doctor) []finding {
	if d.Config.Store == config.StoreFirestore {
		return checkFirestore(ctx, d)
	}
	found := d.checkFile(ctx, "store")
	if len(found) == 1 && found[0].verdict == fine {
		found = append(found, finding{fine, "indexes", "the server makes them in that file"})
	}
	return found
}

// checkWork says what wakes the work that is due, unless checkCloudTasks does.
func checkWork(_ context.Context, d Doctor) []finding {
	if d.faulty("QS_QUEUE") || d.Config.Queue == config.QueueCloudTasks {
		return nil
	}
	return []finding{{fine, "work", "the server itself does what is due"}}
}

// checkFile checks the data file of the store.
func (d Doctor) checkFile(ctx context.Context, what string) []finding {
	if !d.isSet("QS_SQLITE_PATH", d.Config.SQLitePath) {
		return nil
	}
	reader, err := d.Program.File(ctx)
	if fault.Is(err, fault.NotFound) {
		return []finding{{fine, what, "there is none yet; the server makes " + d.Config.SQLitePath + " at its first start"}}
	}
	if err != nil {
		return []finding{{wrong, what, err.Error()}}
	}
	if err := errors.Join(reader.QuickCheck(ctx), transfer.Unfinished(ctx, reader), reader.Close()); err != nil {
		return []finding{{wrong, what, reader.Path() + ": " + err.Error()}}
	}
	return []finding{{fine, what, fmt.Sprintf("%s is sound; schema version %d", reader.Path(), reader.SchemaVersion())}}
}

// checkFirestore runs each query once.
func checkFirestore(ctx context.Context, d Doctor) []finding {
	if !d.isSet("QS_FIRESTORE_PROJECT", d.Config.FirestoreProject) || d.faulty("QS_FIRESTORE_ENDPOINT") ||
		d.faulty(firestore.EmulatorVariable) {
		return nil
	}
	documents, err := d.Program.Firestore(ctx)
	if err != nil {
		return []finding{{wrong, "store", "Firestore: " + err.Error()}}
	}
	unindexed, err := documents.Unindexed(ctx, patience)
	if err == nil {
		err = transfer.Unfinished(ctx, documents)
	}
	err = errors.Join(err, documents.Close())
	if err != nil {
		return []finding{{wrong, "store", documents.Database() + ": " + err.Error()}}
	}
	found := []finding{{fine, "store", documents.Database() + " answers"}}
	if d.Config.FirestoreEndpoint != "" {
		return []finding{
			{warning, "store", "an emulator stands in for Firestore, and keeps nothing; unset QS_FIRESTORE_ENDPOINT to keep documents"},
		}
	}
	if len(unindexed) > 0 {
		return append(found, finding{wrong, "indexes", "there is none for: " + strings.Join(unindexed, "; ") +
			". Deploy firestore.indexes.json, or wait until it is built"})
	}
	return append(found, finding{fine, "indexes", "every query has its index"})
}

// checkFirebase names the project whose tokens are accepted.
func checkFirebase(_ context.Context, d Doctor) []finding {
	switch {
	case d.Config.Auth != config.AuthFirebase || !d.isSet("QS_FIREBASE_PROJECT", d.Config.FirebaseProject):
		return nil
	case d.Config.UnsignedTokens() && !d.faulty(config.AuthEmulatorVariable):
		return []finding{
			{
				warning, "sign-in",
				"unsigned tokens of the Firebase Auth emulator are taken, by which anybody can speak for anybody; unset " +
					config.AuthEmulatorVariable + " for Firebase itself",
			},
		}
	case d.Config.FirebaseRevocation == config.On:
		return []finding{{fine, "sign-in", "Firebase's people of " + d.Config.FirebaseProject + ", until they are signed out or disabled there"}}
	default:
		return []finding{
			{
				fine, "sign-in",
				"Firebase's people of " + d.Config.FirebaseProject + "; who is disabled there stays signed in for an hour at most, or " +
					"set QS_FIREBASE_REVOCATION=on",
			},
		}
	}
}

func checkSignInKey(_ context.Context, d Doctor) []finding {
	if d.Config.Auth != config.AuthLocal || !d.isSet("QS_SQLITE_PATH", d.Config.SQLitePath) {
		return nil
	}
	path := d.Config.SignInKeyPath()
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(filepath.Dir(path)); err != nil {
			return nil // which checkStore reports
		}
		return []finding{{fine, "sign-in key", "there is none yet; the server makes " + path + " at its first start"}}
	}
	if _, err := signin.LoadOrCreateKey(path); err != nil {
		return []finding{{wrong, "sign-in key", err.Error()}}
	}
	return []finding{{fine, "sign-in key", path + " can be used, by this user alone"}}
}

func checkEncryptionKeys(_ context.Context, d Doctor) []finding {
	if !d.isSet("QS_ENC_KEYS", d.Config.EncKeys.Reveal()) {
		return nil
	}
	says := "QS_ENC_KEYS can be used; keep a copy, but not beside the backups, which hold what it seals"
	if strings.Contains(d.Config.EncKeys.Reveal(), ",") {
		says += "; keep each older key for " + d.Config.WatchTTL.String() +
			" (QS_WATCH_TTL) after a newer one stands first, for the watch channels whose tokens it signed"
	}
	return []finding{{fine, "encryption keys", says}}
}

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

func checkDiscord(ctx context.Context, d Doctor) []finding {
	token := d.Config.DiscordBotToken.Reveal()
	switch {
	case d.faulty("QS_DISCORD_BOT_TOKEN") || d.faulty("QS_DISCORD_ENDPOINT"):
		return nil
	case token == "":
		return []finding{{fine, "discord", "off, since QS_DISCORD_BOT_TOKEN is not set; people are notified in the app"}}
	case d.Config.DiscordEndpoint == "":
		return []finding{{fine, "discord", "the token is set; it is not tried, since Discord is outside this machine"}}
	}
	status, err := d.get(ctx, d.Config.DiscordEndpoint+"/api/v9/users/@me", "Bot "+strings.TrimSpace(token))
	switch {
	case err != nil:
		return []finding{{wrong, "discord", "nothing answers at QS_DISCORD_ENDPOINT; correct it, or unset it for Discord itself"}}
	case status == http.StatusOK:
		return []finding{{warning, "discord", "the token is good at QS_DISCORD_ENDPOINT, which stands in for Discord; unset it to reach people"}}
	case status == http.StatusUnauthorized:
		return []finding{{wrong, "discord", "the token is refused; copy QS_DISCORD_BOT_TOKEN anew from the Discord developer portal"}}
	default:
		return []finding{
			{
				wrong, "discord",
				fmt.Sprintf("QS_DISCORD_ENDPOINT answers %d, as Discord would not; correct it, or unset it for Discord itself", status),
			},
		}
	}
}

func checkAdmins(_ context.Context, d Doctor) []finding {
	if len(d.Config.AdminUsers) == 0 {
		return []finding{
			{
				warning, "admins",
				"there are none, so nobody may operate the server or manage others' polls; name people in QS_ADMIN_USERS, by their uids",
			},
		}
	}
	return []finding{{fine, "admins", fmt.Sprintf("%d", len(d.Config.AdminUsers))}}
}
