package mappings

import (
	"fmt"
	"strings"
)

// read reads one row that is not empty.
func (p *parser) read(number int, cells []string) row {
	r := row{number: number}
	primary := cell(cells, 0)
	r.mistake = p.primaryMistake(primary)
	if r.mistake != "" {
		return r
	}
	r.primary = Fold(primary)
	if len(cells) > Columns && !empty(cells[Columns:]) {
		r.mistake = "It has more than three columns; several secondary addresses stand in one cell, separated by commas."
		return r
	}
	switch status := cell(cells, 2); Fold(status) {
	case "", "active":
		r.secondaries, r.mistake = p.secondaries(cell(cells, 1))
	case "inactive":
	default:
		r.mistake = fmt.Sprintf("The status %s is neither active nor inactive.", shown(status))
	}
	return r
}

func cell(cells []string, column int) string {
	if column >= len(cells) {
		return ""
	}
	return strings.TrimSpace(cells[column])
}

// primaryMistake says what is wrong with a primary address; "" if nothing is.
func (p *parser) primaryMistake(address string) string {
	if address == "" {
		return "It has no primary address."
	}
	if wrong := addressMistake(address); wrong != "" {
		return fmt.Sprintf("The primary address %s is no e-mail address: %s.", shown(address), wrong)
	}
	if !p.domains[domainOf(Fold(address))] {
		return fmt.Sprintf("The primary address %s is in none of the primary domains (QS_ATTENDEES_DOMAINS).", shown(address))
	}
	return ""
}

// secondaries reads a cell of addresses; with a mistake there are none.
func (p *parser) secondaries(cell string) (addresses []string, mistake string) {
	addresses = make([]string, 0, min(strings.Count(cell, ",")+1, MaxSecondaries))
	for part := range strings.SplitSeq(cell, ",") {
		address := strings.TrimSpace(part)
		if address == "" {
			continue
		}
		if len(addresses) == MaxSecondaries {
			return nil, fmt.Sprintf("It has more than %d secondary addresses.", MaxSecondaries)
		}
		if wrong := addressMistake(address); wrong != "" {
			return nil, fmt.Sprintf("The secondary address %s is no e-mail address: %s.", shown(address), wrong)
		}
		if p.domains[domainOf(Fold(address))] {
			return nil, fmt.Sprintf("The secondary address %s is in a primary domain (QS_ATTENDEES_DOMAINS).", shown(address))
		}
		addresses = append(addresses, Fold(address))
	}
	if len(addresses) == 0 {
		return nil, "It has no secondary address; to end a mapping, set its status to inactive."
	}
	return addresses, ""
}
