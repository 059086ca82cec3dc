package seal_test

import (
	"strings"
	"testing"

	"questscheduler/fault"
	"questscheduler/internal/accounts/seal"
)

// FuzzParseKeys: a setting is keys that seal and open, or it is refused without
// a word of it.
func FuzzParseKeys(f *testing.F) {
	for _, seed := range []string{
		"", raw(1), "k1:" + raw(1), "k1:" + raw(1) + ", k2:" + raw(2), "k1:" + raw(1) + ",k1:" + raw(2), raw(1) + "," + raw(2),
		"k 1:" + raw(1), "k1:" + strings.TrimRight(raw(250), "="),
		"k1:" + strings.NewReplacer("+", "-", "/", "_").Replace(raw(250)), ":", ",", "k1:" + raw(1)[:20],
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		keys, err := seal.ParseKeys(text)
		if err != nil {
			if !fault.Is(err, fault.Invalid) {
				t.Fatalf("refused with %v", err)
			}
			for item := range strings.SplitSeq(text, ",") {
				if _, key, named := strings.Cut(item, ":"); named && len(key) > 12 && strings.Contains(err.Error(), key) {
					t.Fatalf("an error shows a key: %v", err)
				}
			}
			return
		}
		sealed, err := keys.Seal("1//refresh", here)
		if err != nil {
			t.Fatal(err)
		}
		if secret, current, err := keys.Open(sealed, here); secret != "1//refresh" || !current || err != nil {
			t.Fatalf("opened: %q, %t, %v", secret, current, err)
		}
	})
}

// FuzzOpen: nothing opens that was not sealed with one of the keys for that very
// place, however the text or the place is changed; and no keys open nothing.
func FuzzOpen(f *testing.F) {
	keys, err := seal.ParseKeys("k1:" + raw(1) + ",k2:" + raw(2))
	if err != nil {
		f.Fatal(err)
	}
	sealed, err := keys.Seal("1//refresh", here)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(sealed, here.Person, here.Account, here.Purpose)
	f.Add(sealed, here.Person+here.Account, "", here.Purpose)
	f.Add(strings.Replace(sealed, "v1", "v2", 1), here.Person, here.Account, here.Purpose)
	f.Add(strings.Replace(sealed, "k1", "k2", 1), here.Person, here.Account, here.Purpose)
	f.Add(sealed[:len(sealed)-1], here.Person, here.Account, here.Purpose)
	f.Add("v1..", "", "", "")
	f.Add("v1.k1", "", "", "")
	f.Fuzz(func(t *testing.T, text, person, account, purpose string) {
		place := seal.Binding{Person: person, Account: account, Purpose: purpose}
		if secret, _, err := (seal.Keys{}).Open(text, place); err == nil || secret != "" {
			t.Fatal("no keys opened something")
		}
		secret, current, err := keys.Open(text, place)
		if err != nil {
			if secret != "" || fault.CodeOf(err) != seal.CodeUnreadable || len(text) > 20 && strings.Contains(err.Error(), text) {
				t.Fatalf("refused with %q, %v", secret, err)
			}
			return
		}
		name, body, _ := strings.Cut(strings.TrimPrefix(text, "v1."), ".")
		if place != here || secret != "1//refresh" || current != (name == "k1") || len(body) < 20 {
			t.Fatalf("%q opened as %q in %+v", text, secret, place)
		}
	})
}
