package seal

import (
	"crypto/cipher"
	"encoding/base64"
	"strings"
)

// googlePrefix begins every Google refresh token.
const googlePrefix = "1/"

// Sizes of GCM's tag and usual initialisation vector, in bytes.
const (
	tagSize = 16
	plainIV = 12
)

// IsSealed distinguishes a secret of Seal's from one in an older format.
func IsSealed(stored any) bool {
	text, _ := stored.(string)
	return strings.HasPrefix(text, version+".")
}

// OpenOlder reads a secret in one of the older formats, which are bound to no place:
//
//   - {iv, data, tag}, base64 parts of AES-256-GCM: the web app's
//   - base64 of IV‖ciphertext‖tag: an earlier server's
//   - the plain token, older still
//
// A text counts as a plain token only if it has the prefix of Google's refresh tokens.
// The error is Internal with CodeUnreadable if no key opens the secret.
func (k Keys) OpenOlder(stored any) (secret string, err error) {
	switch value := stored.(type) {
	case map[string]any:
		iv, tag, data := part(value, "iv"), part(value, "tag"), part(value, "data")
		if len(iv) == 0 || len(tag) != tagSize || len(data) == 0 {
			return "", unreadable("its format is unknown")
		}
		return k.openOlder(iv, append(data, tag...))
	case string:
		if strings.HasPrefix(value, googlePrefix) {
			return value, nil
		}
		if raw := decodeAny(value); len(raw) > plainIV+tagSize {
			return k.openOlder(raw[:plainIV], raw[plainIV:])
		}
	}
	return "", unreadable("its format is unknown")
}

// openOlder tries each key, without associated data.
func (k Keys) openOlder(iv, ciphertext []byte) (string, error) {
	for _, candidate := range k.list {
		aead, err := cipher.NewGCMWithNonceSize(candidate.block, len(iv))
		if err != nil {
			return "", unreadable("it is damaged")
		}
		if plain, err := aead.Open(nil, iv, ciphertext, nil); err == nil {
			return string(plain), nil
		}
	}
	return "", unreadable("no key opens it")
}

func part(parts map[string]any, name string) []byte {
	text, _ := parts[name].(string)
	return decodeAny(text)
}

// decodeAny decodes base64 of either alphabet, padded or not; nil if it is none.
func decodeAny(text string) []byte {
	text = strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(text, "="))
	raw, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		return nil
	}
	return raw
}
