package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"questscheduler/internal/config"
	"questscheduler/internal/signin"
)

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
