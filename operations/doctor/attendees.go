package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"questscheduler/attendees/mappings"
	"questscheduler/fault"
	"questscheduler/internal/config"
	"questscheduler/operations/health"
)

// attendeesWhat is what the lines of this check are about.
const attendeesWhat = "attendees"

// checkAttendees loads second addresses once and, with a service account, acts as the first
// of their owners. It writes nothing.
func checkAttendees(ctx context.Context, d Doctor) []finding {
	for _, name := range []string{"SHEET", "CSV", "DOMAINS", "KEY", "ACCOUNT", "SEND_UPDATES"} {
		if d.faulty("QS_ATTENDEES_" + name) {
			return nil
		}
	}
	if !d.Config.AttendeesOn() {
		return nil
	}
	held := d.heldMappings(ctx)
	source, grants, err := d.Program.SecondAddresses()
	if err != nil {
		return append(held, finding{wrong, attendeesWhat, fault.MessageOf(err, err.Error())})
	}
	if d.Config.AttendeesAccount != "" {
		return append(held, finding{
			fine, attendeesWhat,
			"the account " + d.Config.AttendeesAccount + " reads the sheet, with whose grant the server alone tries it; /dashboard " +
				"shows how that went",
		})
	}
	table, found := d.loadMappings(ctx, source)
	found = append(held, found...)
	if table.Len() == 0 || !d.Config.AttendeesKey.IsSet() {
		return found
	}
	return append(found, d.checkDelegation(ctx, grants, table.Primaries()[0]))
}

// heldMappings warns of mappings that the server loaded and that await confirmation. A store
// that cannot be read is another check's.
func (d Doctor) heldMappings(ctx context.Context) []finding {
	patient, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if d.Config.Store == config.StoreFirestore &&
		(!d.isSet("QS_FIRESTORE_PROJECT", d.Config.FirestoreProject) || d.faulty("QS_FIRESTORE_ENDPOINT")) {
		return nil
	}
	documents, err := d.documents(patient)
	if err != nil {
		return nil // which checkStore reports
	}
	state, err := mappings.LoadRecord(patient, documents)
	err = errors.Join(err, documents.Close())
	if err != nil || state.Held.Version == "" {
		return nil // or so here
	}
	return []finding{{warning, attendeesWhat, health.HeldMappings(state.Held) + " /dashboard says how to confirm it"}}
}

// skippedShown is how many skipped rows a line names.
const skippedShown = 5

// loadMappings loads them as the server does.
func (d Doctor) loadMappings(ctx context.Context, source mappings.Source) (mappings.Table, []finding) {
	rows, err := source.Rows(ctx)
	if err != nil {
		return mappings.Table{}, []finding{{wrong, attendeesWhat, source.String() + " cannot be loaded: " + fault.MessageOf(err, err.Error())}}
	}
	table, skipped, err := mappings.Parse(rows, d.Config.AttendeesDomains, mappings.Table{})
	if err != nil {
		return mappings.Table{}, []finding{{wrong, attendeesWhat, source.String() + " cannot be used: " + fault.MessageOf(err, err.Error())}}
	}
	found := []finding{
		{fine, attendeesWhat, fmt.Sprintf("%s has %d rows, which give %d addresses second ones", source, len(rows), table.Len())},
	}
	if len(skipped) == 0 {
		return table, found
	}
	var reasons []string
	for _, row := range skipped[:min(len(skipped), skippedShown)] {
		reasons = append(reasons, fmt.Sprintf("row %d: %s", row.Row, row.Reason))
	}
	if len(skipped) > skippedShown {
		reasons = append(reasons, fmt.Sprintf("and %d more", len(skipped)-skippedShown))
	}
	return table, append(found, finding{
		warning, attendeesWhat, fmt.Sprintf("%d rows are not taken: %s", len(skipped), strings.Join(reasons, "; ")),
	})
}

// checkDelegation asks for a token as somebody whose calendar the server follows.
func (d Doctor) checkDelegation(ctx context.Context, grants Delegate, primary string) finding {
	patient, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := grants.CheckDelegation(patient, primary); err != nil {
		return finding{wrong, attendeesWhat, "the service account cannot act as " + primary + ": " + fault.MessageOf(err, err.Error())}
	}
	return finding{fine, attendeesWhat, "the service account acts as " + primary + ", the first of them"}
}
