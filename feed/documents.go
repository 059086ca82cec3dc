package feed

import (
	"encoding/base64"
	"time"

	"questscheduler/internal/ids"
	"questscheduler/internal/store"
)

// secretSize is how many random bytes a secret has.
const secretSize = 32

// secretPath is where the document of a secret is: its id is the SHA-256 of the secret, so that a
// reader of the store learns no address.
func secretPath(hash string) store.Path { return store.Doc("feedSecrets", hash) }

// personPath is where the hash of a person's secret is, for those who asked for a feed.
func personPath(userID string) store.Path { return store.Doc("feedPeople", userID) }

// hashOf gives the hash of a secret; false for a text that was never one.
func hashOf(secret string) (hash string, ok bool) {
	encoding := base64.RawURLEncoding.Strict()
	if len(secret) != encoding.EncodedLen(secretSize) { // the decoder skips line ends
		return "", false
	}
	random, err := encoding.DecodeString(secret)
	if err != nil || len(random) != secretSize {
		return "", false
	}
	return ids.Of(string(random)).Hex(32), true
}

// The fields of the documents.
const (
	fieldOwner    = "ownerId"
	fieldHash     = "hash"
	fieldMade     = "createdAt"
	fieldSignedIn = "signedInAt"
)

func secretFields(userID string, signedIn, now time.Time) map[string]any {
	return map[string]any{fieldOwner: userID, fieldMade: now, fieldSignedIn: signedIn}
}

// signedInAt is when the owner of a secret had signed in. Old secrets do not say, and have the time
// at which they were made.
func signedInAt(secret store.Fields) time.Time {
	if at := secret.Time(fieldSignedIn); !at.IsZero() {
		return at
	}
	return secret.Time(fieldMade)
}

func personFields(hash string) map[string]any { return map[string]any{fieldHash: hash} }
