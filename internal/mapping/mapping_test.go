package mapping_test

import (
	"testing"

	"questscheduler/internal/mapping"
)

func TestKnows_OurPeople_AndNobodyElse(t *testing.T) {
	t.Parallel()
	table := mapping.New([]mapping.Mapping{{Primary: "ann@old.test", Secondaries: []string{"Ann@fuga.test"}}}).Within([]string{"Hoge.test"})
	for address, want := range map[string]bool{
		"ann@old.test": true, "ANN@FUGA.test": true, "bob@hoge.test": true,
		"bob@fuga.test": false, "bob@old.test": false, "eve@sub.hoge.test": false, "eve@nothoge.test": false, "hoge.test@eve.test": false,
		"eve@hoge.test.eve.test": false, "hoge.test": false, "": false, "@": false, "eve": false,
	} {
		if got := table.Knows(address); got != want {
			t.Errorf("%q: %t", address, got)
		}
	}
	if padded := " BOB@HOGE.test "; !table.Knows(padded) {
		t.Errorf("%q: false", padded)
	}
	if (mapping.Table{}).Knows("") || (mapping.Table{}).Within([]string{""}).Knows("") {
		t.Error("nobody is one of our people")
	}
}
