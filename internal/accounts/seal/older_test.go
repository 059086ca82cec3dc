package seal_test

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"strings"
	"testing"

	"questscheduler/fault"
	"questscheduler/internal/accounts/seal"
)

// encrypted is what WebCrypto and Node make of a text with AES-256-GCM under a
// key of 32 equal bytes: ciphertext, and the tag behind it.
func encrypted(t *testing.T, key byte, iv []byte, text string) []byte {
	t.Helper()
	block, err := aes.NewCipher(bytes.Repeat([]byte{key}, 32))
	if err != nil {
		t.Fatal(err)
	}
	gcm, err := cipher.NewGCMWithNonceSize(block, len(iv))
	if err != nil {
		t.Fatal(err)
	}
	return gcm.Seal(nil, iv, []byte(text), nil)
}

// webApp is a token in the web app's shape.
func webApp(t *testing.T, key byte, iv []byte, text string) map[string]any {
	t.Helper()
	made := encrypted(t, key, iv, text)
	data, tag := made[:len(made)-16], made[len(made)-16:]
	b64 := base64.StdEncoding.EncodeToString
	return map[string]any{"iv": b64(iv), "data": b64(data), "tag": b64(tag)}
}

// joined is a token as an earlier server sealed it: base64 of IV, ciphertext and tag.
func joined(t *testing.T, key byte, text string) string {
	t.Helper()
	iv := bytes.Repeat([]byte{9}, 12)
	return base64.StdEncoding.EncodeToString(append(iv, encrypted(t, key, iv, text)...))
}

func TestOpenOlder_ReadsEveryShapeOfBefore(t *testing.T) {
	t.Parallel()
	keys := parse(t, "new:"+raw(2)+",old:"+raw(1))
	for name, stored := range map[string]any{
		"the web app's":                        webApp(t, 1, bytes.Repeat([]byte{3}, 12), "1//refresh"),
		"the web app's, with 16 bytes":         webApp(t, 1, bytes.Repeat([]byte{3}, 16), "1//refresh"),
		"the web app's, under the new key":     webApp(t, 2, bytes.Repeat([]byte{3}, 12), "1//refresh"),
		"base64 of all parts":                  joined(t, 1, "1//refresh"),
		"base64 of all parts, without padding": strings.TrimRight(joined(t, 1, "1//refresh"), "="),
		"plain, as it was before all these":    "1//refresh",
	} {
		if secret, err := keys.OpenOlder(stored); secret != "1//refresh" || err != nil {
			t.Errorf("%s: %q, %v", name, secret, err)
		}
		if seal.IsSealed(stored) {
			t.Errorf("%s is treated as sealed", name)
		}
	}
	if !seal.IsSealed(sealed(t, keys, "1//refresh")) {
		t.Error("a sealed secret is not treated as sealed")
	}
}

func TestOpenOlder_RefusesWhatNoKeyOpens(t *testing.T) {
	t.Parallel()
	keys := parse(t, "k1:"+raw(1))
	whole := webApp(t, 1, bytes.Repeat([]byte{3}, 12), "1//refresh")
	but := func(name string, value any) map[string]any {
		changed := map[string]any{"iv": whole["iv"], "data": whole["data"], "tag": whole["tag"]}
		changed[name] = value
		return changed
	}
	for name, stored := range map[string]any{
		"another key's":                      webApp(t, 7, bytes.Repeat([]byte{3}, 12), "1//refresh"),
		"another key's, base64 of all parts": joined(t, 7, "1//refresh"),
		"a part missing":                     but("tag", nil),
		"a part that is no base64":           but("data", "!!!"),
		"a tag that is cut short":            but("tag", "AAAA"),
		"a changed iv":                       but("iv", base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{4}, 12))),
		"an empty iv":                        but("iv", ""),
		"nothing":                            nil,
		"an empty text":                      "",
		"a text that is no such token":       "refresh-me-please",
		"a number":                           int64(5),
		"a list":                             []any{"1//refresh"},
		"an empty map":                       map[string]any{},
	} {
		secret, err := keys.OpenOlder(stored)
		if secret != "" || fault.CodeOf(err) != seal.CodeUnreadable {
			t.Errorf("%s: %q, %v", name, secret, err)
		}
	}
}

func FuzzOpenOlder(f *testing.F) {
	f.Add("AAAA", "AAAA", "AAAA", "AAAA")
	f.Add("", "AAAAAAAAAAAAAAAAAAAAAA==", "AA==", "1//x")
	f.Fuzz(func(t *testing.T, iv, tag, data, text string) {
		keys := parse(t, "k1:"+raw(1))
		secret, err := keys.OpenOlder(map[string]any{"iv": iv, "tag": tag, "data": data})
		if (err == nil) == (secret == "") && err == nil {
			t.Fatal("nothing was opened without an error")
		}
		if secret, err := keys.OpenOlder(text); err == nil && secret == "" {
			t.Fatal("nothing was opened without an error")
		}
	})
}
