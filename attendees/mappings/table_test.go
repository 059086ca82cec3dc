package mappings_test

import (
	"testing"

	"questscheduler/attendees/mappings"
)

func TestKnows_OurPeople_AndNobodyElse(t *testing.T) {
	t.Parallel()
	list := []mappings.Mapping{{Primary: "ann@old.test", Secondaries: []string{"Ann@fuga.test"}}}
	table := mappings.NewTable(list).Within([]string{"Hoge.test"})
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
	if (mappings.Table{}).Knows("") || (mappings.Table{}).Within([]string{""}).Knows("") {
		t.Error("nobody is one of our people")
	}
}

// What was not carried out wholly differs from every version, also from one with as few addresses.
func TestChanged_WhatIsNotSettled_IsAChange(t *testing.T) {
	t.Parallel()
	of := func(state mappings.State) mappings.Table {
		return mappings.NewTable([]mappings.Mapping{{Primary: "ana@first.example", State: state}})
	}
	for _, state := range []mappings.State{mappings.Unsettled, mappings.Leaving} {
		if changed := mappings.Changed(of(state), of(mappings.Settled)); len(changed) != 1 {
			t.Errorf("%s: changed are %v", state, changed)
		}
		encoded, err := of(state).Encode()
		if err != nil {
			t.Fatal(err)
		}
		read, err := mappings.DecodeTable(encoded)
		if err != nil || read.State("Ana@first.example") != state || read.Version() == of(mappings.Settled).Version() {
			t.Errorf("%s was read as %q, version %s, %v", state, read.State("ana@first.example"), read.Version(), err)
		}
	}
}
