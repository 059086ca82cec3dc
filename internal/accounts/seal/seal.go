// Package seal encrypts the secrets of linked accounts with AES-256-GCM. A key id and a
// version let keys be changed without downtime; associated data makes a secret open only
// in the place it was sealed for.
package seal

import (
	"crypto/cipher"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"questscheduler/fault"
)

// version names the sealed format. It is bound too.
const version = "v1"

// CodeUnreadable is the code of the Internal error for a secret that no key opens.
const CodeUnreadable = "secret_unreadable"

// Keys seal and open secrets: the first seals, all open. The zero value does neither.
// Printing it shows the names of the keys only.
type Keys struct {
	list []key
}

type key struct {
	id   string
	aead cipher.AEAD // draws a nonce for each secret and prepends it
	// block is the same key for older formats (older.go).
	block cipher.Block
	// mac is derived from the key for channel tokens (channel.go).
	mac []byte
}

// Binding is the place a secret is sealed for. It does not open in another place, such as
// another person's account.
type Binding struct {
	Person  string
	Account string
	// Purpose is what the secret is for, such as "google refresh token".
	Purpose string
}

// Seal encrypts a secret for its place, as version.keyID.ciphertext.
func (k Keys) Seal(secret string, place Binding) (string, error) {
	if len(k.list) == 0 {
		return "", fault.New(fault.Internal, "There is no key to seal secrets with; set QS_ENC_KEYS.")
	}
	first := k.list[0]
	ciphertext := first.aead.Seal(nil, nil, []byte(secret), place.bytes()) //nolint:gosec // the AEAD draws the nonce
	return strings.Join([]string{version, first.id, base64.RawURLEncoding.EncodeToString(ciphertext)}, "."), nil
}

// Open decrypts what Seal made for the same place. If current is false, another key than
// the first sealed it, and it should be sealed again. The named key is tried first, then
// the others, since keys may have been renamed. Internal with CodeUnreadable: no key
// opens it.
func (k Keys) Open(sealed string, place Binding) (secret string, current bool, err error) {
	parts := strings.Split(sealed, ".")
	if len(parts) != 3 || parts[0] != version {
		return "", false, unreadable("its format is unknown")
	}
	ciphertext, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil {
		return "", false, unreadable("it is damaged")
	}
	for _, candidate := range k.orderFor(parts[1]) {
		if plain, err := candidate.aead.Open(nil, nil, ciphertext, place.bytes()); err == nil {
			newest := k.list[0].id
			return string(plain), candidate.id == newest && parts[1] == newest, nil
		}
	}
	return "", false, unreadable("no key opens it in this place")
}

// orderFor returns the keys, the one of that name first.
func (k Keys) orderFor(id string) []key {
	list := slices.Clone(k.list)
	slices.SortStableFunc(list, func(a, b key) int {
		switch {
		case a.id == id && b.id != id:
			return -1
		case b.id == id && a.id != id:
			return 1
		default:
			return 0
		}
	})
	return list
}

// bytes encodes the place as associated data, each part with its length, so that no two
// places coincide.
func (b Binding) bytes() []byte {
	var data []byte
	for _, part := range []string{version, b.Person, b.Account, b.Purpose} {
		data = binary.BigEndian.AppendUint32(data, uint32(len(part)))
		data = append(data, part...)
	}
	return data
}

// Format implements fmt.Formatter. It prints the names of the keys, never the keys.
func (k Keys) Format(f fmt.State, _ rune) {
	names := make([]string, len(k.list))
	for i, key := range k.list {
		names[i] = key.id
	}
	fmt.Fprintf(f, "keys(%s)", strings.Join(names, ","))
}

func unreadable(why string) error {
	return &fault.Error{
		Kind: fault.Internal, Code: CodeUnreadable,
		Message: "A stored secret cannot be opened: " + why + ". Check that QS_ENC_KEYS still holds the key it was sealed with.",
	}
}
