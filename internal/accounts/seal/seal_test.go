package seal_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"questscheduler/fault"
	"questscheduler/internal/accounts/seal"
)

// raw is a key of 32 equal bytes, in base64.
func raw(b byte) string { return base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{b}, 32)) }

func parse(t *testing.T, text string) seal.Keys {
	t.Helper()
	keys, err := seal.ParseKeys(text)
	if err != nil {
		t.Fatalf("parse: %v", err)
	}
	return keys
}

func sealed(t *testing.T, keys seal.Keys, secret string) string {
	t.Helper()
	text, err := keys.Seal(secret, here)
	if err != nil {
		t.Fatalf("seal: %v", err)
	}
	return text
}

var here = seal.Binding{Person: "gm", Account: "acc_1", Purpose: "google refresh token"}

func TestSeal_OpensInItsPlaceAlone(t *testing.T) {
	t.Parallel()
	keys := parse(t, "k1:"+raw(1))
	text := sealed(t, keys, "1//refresh")
	if strings.Contains(text, "refresh") || !strings.HasPrefix(text, "v1.k1.") {
		t.Errorf("sealed form: %q", text)
	}
	if secret, current, err := keys.Open(text, here); secret != "1//refresh" || !current || err != nil {
		t.Errorf("opened: %q, %v, %v", secret, current, err)
	}
	for name, place := range map[string]seal.Binding{
		"another person":     {Person: "ana", Account: here.Account, Purpose: here.Purpose},
		"another account":    {Person: here.Person, Account: "acc_2", Purpose: here.Purpose},
		"another purpose":    {Person: here.Person, Account: here.Account, Purpose: "channel token"},
		"parts shifted over": {Person: here.Person + here.Account, Purpose: here.Purpose},
	} {
		if secret, _, err := keys.Open(text, place); err == nil || secret != "" || fault.CodeOf(err) != seal.CodeUnreadable {
			t.Errorf("%s: got %q, %v", name, secret, err)
		}
	}
}

func TestSeal_OfTheSameSecret_DiffersEachTime(t *testing.T) {
	t.Parallel()
	keys := parse(t, raw(1))
	if first, second := sealed(t, keys, "x"), sealed(t, keys, "x"); first == second {
		t.Error("two sealings are equal")
	}
}

func TestOpen_RefusesWhatWasTamperedWith(t *testing.T) {
	t.Parallel()
	keys := parse(t, "k1:"+raw(1))
	text := sealed(t, keys, "secret")
	last := []byte(text)
	last[len(last)-3] ^= 1
	for name, text := range map[string]string{
		"a changed letter":  string(last),
		"another version":   "v2" + text[2:],
		"cut short":         text[:len(text)-8],
		"a part less":       strings.Replace(text, ".k1.", ".", 1),
		"no base64":         "v1.k1.!!!",
		"nothing":           "",
		"a ciphertext of 0": "v1.k1.",
	} {
		if secret, _, err := keys.Open(text, here); err == nil || secret != "" {
			t.Errorf("%s: opened to %q", name, secret)
		}
	}
}

func TestKeys_RotateWithoutDowntime(t *testing.T) {
	t.Parallel()
	before := parse(t, "old:"+raw(1))
	text := sealed(t, before, "secret")
	for name, tc := range map[string]struct {
		keys    string
		opens   bool
		current bool
	}{
		"a new key in front":               {"new:" + raw(2) + ",old:" + raw(1), true, false},
		"the new key behind":               {"old:" + raw(1) + ",new:" + raw(2), true, true},
		"the old key gone":                 {"new:" + raw(2), false, false},
		"the old key under another name":   {"new:" + raw(2) + ",older:" + raw(1), true, false},
		"the only key under another name":  {"renamed:" + raw(1), true, false},
		"the name given to another key":    {"old:" + raw(2) + ",older:" + raw(1), true, false},
		"the bare key that it used to be":  {raw(1), true, false},
		"spaces and no padding in the old": {" old:" + strings.TrimRight(raw(1), "="), true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			secret, current, err := parse(t, tc.keys).Open(text, here)
			if (err == nil) != tc.opens || tc.opens && secret != "secret" || current != tc.current {
				t.Errorf("got %q, current %v, %v", secret, current, err)
			}
		})
	}
}

func TestParseKeys_Refusal_SaysWhatToDoWithoutTheKey(t *testing.T) {
	t.Parallel()
	short := base64.StdEncoding.EncodeToString([]byte("sixteen bytes ok"))
	for name, tc := range map[string]struct{ text, says string }{
		"nothing":              {"", "32 bytes"},
		"a short key":          {"k1:" + short, "openssl rand -base64 32"},
		"no base64":            {"k1:" + strings.Repeat("!", 44), "32 bytes"},
		"bits beyond the key":  {"k1:" + raw(1)[:42] + "F=", "32 bytes"},
		"two bare keys":        {raw(1) + "," + raw(2), "has no name"},
		"two keys of one name": {"a:" + raw(1) + ",a:" + raw(2), "name of an earlier"},
		"a name with a dot":    {"a.b:" + raw(1), "letters, digits"},
		"an empty name":        {":" + raw(1), "letters, digits"},
		"a comma at the end":   {"a:" + raw(1) + ",", "has no name"},
	} {
		_, err := seal.ParseKeys(tc.text)
		if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: got %v", name, err)
		}
		if err != nil && (strings.Contains(err.Error(), raw(1)[:10]) || strings.Contains(err.Error(), short)) {
			t.Errorf("%s: the error holds a key: %v", name, err)
		}
	}
}

func TestKeys_PrintTheirNamesAlone(t *testing.T) {
	t.Parallel()
	keys := parse(t, "new:"+raw(2)+",old:"+raw(1))
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d", "%x"} {
		if got := fmt.Sprintf(verb, keys); got != "keys(new,old)" {
			t.Errorf("%s prints %q", verb, got)
		}
	}
}

func TestKeys_WithoutOneNothingIsSealed(t *testing.T) {
	t.Parallel()
	if text, err := (seal.Keys{}).Seal("secret", here); err == nil {
		t.Errorf("sealed to %q", text)
	}
}

func TestGenerate_MakesAKeyOfItsOwnEachTime(t *testing.T) {
	t.Parallel()
	one, err := seal.Generate()
	if err != nil {
		t.Fatal(err)
	}
	two, err := seal.Generate()
	if err != nil {
		t.Fatal(err)
	}
	text := sealed(t, parse(t, string(one)), "secret")
	if _, _, err := parse(t, string(two)).Open(text, here); err == nil {
		t.Error("the second key opens what the first sealed")
	}
}
