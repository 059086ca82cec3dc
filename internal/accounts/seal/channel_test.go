package seal_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"testing"

	"questscheduler/internal/accounts/seal"
)

const (
	channel = "5f0c7b8e-6d0e-4a53-9d43-0d9f6d3f8c11"
	// channelToken is that channel's under k1, computed by RFC 5869 and RFC 2104 outside
	// of this program: tokens at Google stay good for as long as their channels live.
	channelToken = "v1.k1.QC_8QB_8pvK1iHAfm4xE1dEoANcginKHM-BTeEJGY9o"
)

func token(t *testing.T, keys seal.Keys, channelID string) string {
	t.Helper()
	made, err := keys.ChannelToken(channelID)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func TestChannelToken_OfTheSameKeys_IsTheSame(t *testing.T) {
	t.Parallel()
	if got := token(t, parse(t, "k1:"+raw(1)+",k2:"+raw(2)), channel); got != channelToken {
		t.Errorf("made %s, want %s", got, channelToken)
	}
	longest := token(t, parse(t, strings.Repeat("k", 32)+":"+raw(1)), channel)
	if _, valid := parse(t, "other:"+raw(1)).VerifyChannelToken(longest, channel); !valid || len(longest) > 256 {
		t.Errorf("%s is not valid, or longer than Google takes", longest)
	}
	if made, err := (seal.Keys{}).ChannelToken(channel); err == nil {
		t.Errorf("without a key %s was made", made)
	}
}

func TestVerifyChannelToken_TakesWhatAKeyMadeForTheChannel(t *testing.T) {
	t.Parallel()
	mac := strings.TrimPrefix(channelToken, "v1.k1.")
	direct := hmac.New(sha256.New, bytes.Repeat([]byte{1}, 32))
	direct.Write([]byte(channel))
	for name, row := range map[string]struct {
		keys, token   string
		signed, valid bool
	}{
		"its key alone":              {"k1:" + raw(1), channelToken, true, true},
		"its key behind a newer one": {"k2:" + raw(2) + ",k1:" + raw(1), channelToken, true, true},
		"its key by another name":    {"k2:" + raw(2) + ",old:" + raw(1), channelToken, true, true},
		"its key was taken out":      {"k2:" + raw(2), channelToken, false, false},
		"another key of its name":    {"k1:" + raw(2), channelToken, true, false},
		"another channel's":          {"k1:" + raw(1), token(t, parse(t, "k1:"+raw(1)), channel+"x"), true, false},
		"the sealing key's own MAC":  {"k1:" + raw(1), "v1.k1." + base64.RawURLEncoding.EncodeToString(direct.Sum(nil)), true, false},
		"of no key, cut short":       {"k2:" + raw(2), channelToken[:len(channelToken)-1], true, false},
		"no key":                     {"k1:" + raw(1), "v1.." + mac, true, false},
		"no MAC":                     {"k1:" + raw(1), "v1.k1.", true, false},
		"the version alone":          {"k1:" + raw(1), "v1.", true, false},
		"a part too many":            {"k1:" + raw(1), channelToken + ".x", true, false},
		"padded":                     {"k1:" + raw(1), channelToken + "=", true, false},
		"cut short":                  {"k1:" + raw(1), channelToken[:len(channelToken)-1], true, false},
		"longer":                     {"k1:" + raw(1), channelToken + "A", true, false},
		"a line break within":        {"k1:" + raw(1), channelToken[:20] + "\n" + channelToken[20:], true, false},
		"another version":            {"k1:" + raw(1), "v2.k1." + mac, false, false},
		"a random token of before":   {"k1:" + raw(1), strings.Repeat("0f", 32), false, false},
		"none":                       {"k1:" + raw(1), "", false, false},
	} {
		if signed, valid := parse(t, row.keys).VerifyChannelToken(row.token, channel); signed != row.signed || valid != row.valid {
			t.Errorf("%s: signed %t, valid %t, want %t, %t", name, signed, valid, row.signed, row.valid)
		}
	}
	if _, valid := (seal.Keys{}).VerifyChannelToken(channelToken, channel); valid {
		t.Error("without keys a token is valid")
	}
}

// FuzzVerifyChannelToken: a token is valid exactly where it has a key's name and the
// MAC that a key made for the channel, written in the one way that there is.
func FuzzVerifyChannelToken(f *testing.F) {
	keys, err := seal.ParseKeys("k2:" + raw(2) + ",k1:" + raw(1))
	if err != nil {
		f.Fatal(err)
	}
	older, err := seal.ParseKeys("k1:" + raw(1))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(channelToken, channel)
	f.Add(channelToken+"=", channel)
	f.Add(channelToken[:len(channelToken)-1]+"B", channel)
	f.Add(strings.Replace(channelToken, ".k1.", "..", 1), channel)
	f.Add(strings.Replace(channelToken, ".k1.", ".k1\x00.", 1), channel)
	f.Add("v1."+channelToken, channel)
	f.Add("v1.k1."+strings.Repeat("A", 43), "")
	f.Add("v1...", "a/b")
	f.Fuzz(func(t *testing.T, given, channelID string) {
		signed, valid := keys.VerifyChannelToken(given, channelID)
		if signed && !strings.HasPrefix(given, "v1.") || valid && !signed {
			t.Fatalf("%q is signed %t, valid %t", given, signed, valid)
		}
		parts := strings.Split(given, ".")
		made := false
		for _, some := range []seal.Keys{keys, older} {
			genuine, err := some.ChannelToken(channelID)
			if err != nil {
				t.Fatal(err)
			}
			made = made || given == genuine || len(parts) == 3 && parts[2] == strings.Split(genuine, ".")[2]
			if _, valid := keys.VerifyChannelToken(genuine, channelID); !valid {
				t.Fatalf("the token of %q is not valid", channelID)
			}
		}
		if valid && !made {
			t.Fatalf("%q is valid for %q", given, channelID)
		}
	})
}
