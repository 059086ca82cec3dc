// Package meter hands events over to their counter. Each package declares
// its events beside the code that meets them, in a file meter.go.
package meter

// Meter receives events, after the commit and never within a transaction. It
// neither blocks nor fails. A nil Meter counts nothing.
type Meter func(event any)

// Count hands over an event.
func (m Meter) Count(event any) {
	if m != nil {
		m(event)
	}
}
