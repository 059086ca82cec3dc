package worldtest

import (
	"bytes"
	"encoding/base64"
	"strings"

	"questscheduler/calendarsync"
	"questscheduler/internal/accounts/seal"
)

// channelTokens are keys whose name marks the tokens of watch channels, so that one
// is found wherever it leaks.
func (w *World) channelTokens() calendarsync.Tokens {
	name := strings.TrimSuffix(strings.TrimPrefix(channelSecret, "v1."), ".")
	keys, err := seal.ParseKeys(name + ":" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{8}, 32)))
	w.must(err)
	return recordingTokens{keys, w}
}

// recordingTokens keeps the tokens that were given out.
type recordingTokens struct {
	seal.Keys
	w *World
}

// ChannelToken implements calendarsync.Tokens.
func (r recordingTokens) ChannelToken(channelID string) (string, error) {
	token, err := r.Keys.ChannelToken(channelID)
	r.w.secrets = append(r.w.secrets, token)
	return token, err
}
