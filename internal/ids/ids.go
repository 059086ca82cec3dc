// Package ids makes identifiers: drawn ones, and ones that are derived, which are the same
// for the same text every time.
package ids

import (
	"bytes"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/oklog/ulid/v2"
)

// UUID draws a UUID.
func UUID() string { return uuid.NewString() }

// ULID draws a ULID for the time; those made within one millisecond increase too.
func ULID(now time.Time) string {
	return ulid.MustNew(ulid.Timestamp(now), ulid.DefaultEntropy()).String()
}

// derived is the name space of the UUIDs that UUIDOf derives.
var derived = uuid.MustParse("6f1d2b0e-54a7-4c0b-9a5e-3c8a1f6f2d47")

// UUIDOf derives a UUID from a name.
func UUIDOf(name string) string {
	return uuid.NewHash(sha256.New(), derived, []byte(name), 8).String()
}

// ULIDOf derives a ULID for the time from a name.
func ULIDOf(at time.Time, name string) string {
	random := Of(name)
	return ulid.MustNew(ulid.Timestamp(at), bytes.NewReader(random[:])).String()
}

// Digest is a SHA-256 hash, of which ids are a beginning.
type Digest [sha256.Size]byte

// Of hashes parts, with a zero byte between two of them. Parts that may hold one must be
// encoded first.
func Of(parts ...string) Digest { return sha256.Sum256([]byte(strings.Join(parts, "\x00"))) }

// Hex writes the first bytes in hexadecimal.
func (d Digest) Hex(size int) string { return hex.EncodeToString(d[:size]) }

// Base64 writes the first bytes in the alphabet for URLs, without padding.
func (d Digest) Base64(size int) string { return base64.RawURLEncoding.EncodeToString(d[:size]) }

// Base32 writes 16 bytes in small letters and digits, without padding.
func (d Digest) Base32() string { return small.EncodeToString(d[:16]) }

// Google writes 16 bytes in the characters that Google takes in ids of events: 0 to 9 and a
// to v.
func (d Digest) Google() string { return smallHex.EncodeToString(d[:16]) }

// ICalUID is the iCalendar id that Google derives from the id of an event, unless it was imported.
func ICalUID(eventID string) string { return eventID + "@google.com" }

// The alphabets of RFC 4648 in small letters.
var (
	small    = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)
	smallHex = base32.NewEncoding("0123456789abcdefghijklmnopqrstuv").WithPadding(base32.NoPadding)
)
