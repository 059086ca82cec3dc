package seal

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"

	"questscheduler/fault"
)

// channelLabel is the info parameter of HKDF (RFC 5869) for the key that authenticates
// channel tokens, so that no sealing key signs anything.
const channelLabel = "questscheduler watch channel token v1"

// macLength is that of a MAC in base64. Decoders skip line breaks, so a longer text could
// decode to the same.
var macLength = base64.RawURLEncoding.EncodedLen(sha256.Size)

// ChannelToken makes the token of a watch channel, version.keyID.mac, where mac is the
// HMAC-SHA-256 of the channel's id under the first key. It is deterministic. Internal
// without a key.
func (k Keys) ChannelToken(channelID string) (string, error) {
	if len(k.list) == 0 {
		return "", fault.New(fault.Internal, "There is no key to sign channel tokens with; set QS_ENC_KEYS.")
	}
	first := k.list[0]
	return strings.Join([]string{version, first.id, base64.RawURLEncoding.EncodeToString(first.sign(channelID))}, "."), nil
}

// VerifyChannelToken reports whether one of the keys made a token for that channel
// (valid) and whether these keys decide that (signed). They do not for a token of another
// form, nor for one under an unknown key name: another instance may already have that
// key. It takes constant time per key, and tries the named key first, then the others,
// since keys may have been renamed.
func (k Keys) VerifyChannelToken(token, channelID string) (signed, valid bool) {
	rest, signed := strings.CutPrefix(token, version+".")
	if !signed {
		return false, false
	}
	id, encoded, _ := strings.Cut(rest, ".")
	if len(encoded) != macLength || !keyName.MatchString(id) {
		return true, false
	}
	mac, err := base64.RawURLEncoding.Strict().DecodeString(encoded)
	if err != nil {
		return true, false
	}
	for _, candidate := range k.orderFor(id) {
		if hmac.Equal(mac, candidate.sign(channelID)) {
			return true, true
		}
	}
	return slices.ContainsFunc(k.list, func(known key) bool { return known.id == id }), false
}

func (k key) sign(channelID string) []byte {
	mac := hmac.New(sha256.New, k.mac)
	mac.Write([]byte(channelID))
	return mac.Sum(nil)
}
