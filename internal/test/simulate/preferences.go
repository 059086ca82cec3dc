package main

import (
	"math/rand/v2"

	"questscheduler/internal/test/worldtest"
)

// streamPreferences tells the stream of preferences from those of the world, so that worlds
// without any are what they would be anyhow.
const streamPreferences = 0x3a7e

// beginPreferences draws what people and the group turned off, if anybody did.
func (l *life) beginPreferences() {
	draws := rand.New(rand.NewPCG(l.seed^streamPreferences, 0))
	some := func(of ...string) (some []string) {
		for _, one := range of {
			if draws.IntN(2) == 0 {
				some = append(some, one)
			}
		}
		return some
	}
	if draws.IntN(3) > 0 {
		return
	}
	for _, person := range worldtest.People {
		if muted := some("SLOT_CHANGED", "POLL_CANCELLED", "POLL_RESTORED"); len(muted) > 0 && draws.IntN(2) == 0 {
			l.say("%s muted %v", person.ID, muted)
			l.w.Mute(person.ID, muted...)
		}
	}
	if off := some("slotChanges", "finalizationEvents"); len(off) > 0 {
		l.say("the party turned off %v", off)
		l.w.TurnOff(off...)
	}
}
