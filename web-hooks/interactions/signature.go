package interactions

import (
	"crypto/ed25519"
	"encoding/hex"
	"net/http"
)

// Headers of Discord's signature, over the timestamp and the raw body
// (https://docs.discord.com/developers/interactions/receiving-and-responding#security-and-authorization).
const (
	headerSignature = "X-Signature-Ed25519"
	headerTimestamp = "X-Signature-Timestamp"
)

// signed reports whether Discord signed a request. Of several headers of one name, none counts.
func signed(key ed25519.PublicKey, header http.Header, body []byte) bool {
	signatures, timestamps := header.Values(headerSignature), header.Values(headerTimestamp)
	if len(signatures) != 1 || len(timestamps) != 1 {
		return false
	}
	signature, err := hex.DecodeString(signatures[0])
	if err != nil || len(signature) != ed25519.SignatureSize {
		return false
	}
	return ed25519.Verify(key, append([]byte(timestamps[0]), body...), signature)
}
