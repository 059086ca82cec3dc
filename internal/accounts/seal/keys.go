package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"regexp"
	"slices"
	"strings"

	"questscheduler/fault"
)

const keySize = 32

// unnamed is the name of a key given without one.
const unnamed = "default"

var keyName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,32}$`)

// ParseKeys reads QS_ENC_KEYS: id:base64[,id:base64…], 32 bytes each, or one bare base64
// key. Padding is optional, and the URL alphabet is accepted. Errors are Invalid and hold
// no key.
func ParseKeys(text string) (Keys, error) {
	var keys Keys
	items := strings.Split(strings.TrimSpace(text), ",")
	for i, item := range items {
		name, encoded, named := strings.Cut(strings.TrimSpace(item), ":")
		if !named {
			name, encoded = unnamed, name
		}
		switch {
		case !named && len(items) > 1:
			return Keys{}, fault.Newf(fault.Invalid, "key %d has no name; write several keys as id:base64,id:base64", i+1)
		case !keyName.MatchString(name):
			return Keys{}, fault.Newf(fault.Invalid, "the name of key %d is not 1 to 32 letters, digits, - or _", i+1)
		case slices.ContainsFunc(keys.list, func(k key) bool { return k.id == name }):
			return Keys{}, fault.Newf(fault.Invalid, "key %d has the name of an earlier one", i+1)
		}
		parsed, err := parseKey(name, encoded)
		if err != nil {
			return Keys{}, fault.Newf(fault.Invalid, "key %d is not base64 of %d bytes; make one with: openssl rand -base64 %d", i+1,
				keySize, keySize)
		}
		keys.list = append(keys.list, parsed)
	}
	return keys, nil
}

func parseKey(name, encoded string) (key, error) {
	encoded = strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(encoded, "="))
	raw, err := base64.RawStdEncoding.Strict().DecodeString(encoded)
	if err != nil || len(raw) != keySize {
		return key{}, errors.New("not a key")
	}
	block, err := aes.NewCipher(raw)
	if err != nil {
		return key{}, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return key{}, err
	}
	mac, err := hkdf.Key(sha256.New, raw, nil, channelLabel, sha256.Size)
	if err != nil {
		return key{}, err
	}
	return key{id: name, aead: aead, block: block, mac: mac}, nil
}

// Generate makes one new key in ParseKeys' format, for an installation that keeps its key
// in a file (package keyfile).
func Generate() ([]byte, error) {
	raw := make([]byte, keySize)
	if _, err := rand.Read(raw); err != nil {
		return nil, err
	}
	return []byte("k1:" + base64.StdEncoding.EncodeToString(raw)), nil
}
