package scheduler

import (
	"fmt"

	"questscheduler/fault"
)

// The longest names in bytes; firestore.rules hold the web app to the same uids.
const (
	maxUID     = 128
	maxAddress = 254
)

// checkPeople refuses uids that are too many, with the creator's, or too long.
func checkPeople(field, creator string, others []string) error {
	const kind = "people, the creator among them"
	if err := checkNames(field, others, kind, maxUID); err != nil {
		return err
	}
	return checkNames(field, withPerson(creator, others), kind, maxUID)
}

// checkInvites refuses addresses that are too many or too long.
func checkInvites(addresses []string) error {
	return checkNames("pending_invites", addresses, "addresses", maxAddress)
}

func checkNames(field string, names []string, kind string, longest int) error {
	if len(names) > MaxPeople {
		return fault.Field(field, fmt.Sprintf("must name at most %d %s", MaxPeople, kind))
	}
	for _, name := range names {
		if len(name) > longest {
			return fault.Field(field, fmt.Sprintf("must name %s by at most %d bytes each", kind, longest))
		}
	}
	return nil
}
