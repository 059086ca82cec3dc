package google

import (
	"encoding/json"
	"unicode/utf8"
)

// What the extended properties of an event may be at most, private and shared
// ones together; lengths in characters, the sum of keys and values in bytes.
const (
	maxProperties      = 300
	maxPropertyKey     = 44
	maxPropertyValue   = 1024
	maxPropertiesBytes = 32 << 10
)

// checkProperties refuses extended properties beyond those limits. Google's
// guide has it drop a longer key and cut a longer value without a word; a
// refusal shows a client in its tests what it would lose.
func (e *event) checkProperties() error {
	raw, ok := e.Fields["extendedProperties"]
	if !ok {
		return nil
	}
	var properties struct {
		Private map[string]string `json:"private"`
		Shared  map[string]string `json:"shared"`
	}
	if err := json.Unmarshal(raw, &properties); err != nil {
		return err
	}
	size := 0
	for _, kind := range []map[string]string{properties.Private, properties.Shared} {
		for _, key := range sortedKeys(kind) {
			switch {
			case utf8.RuneCountInString(key) > maxPropertyKey:
				return invalid("The key of an extended property is longer than %d characters.", maxPropertyKey)
			case utf8.RuneCountInString(kind[key]) > maxPropertyValue:
				return invalid("The value of an extended property is longer than %d characters.", maxPropertyValue)
			}
			size += len(key) + len(kind[key])
		}
	}
	if len(properties.Private)+len(properties.Shared) > maxProperties || size > maxPropertiesBytes {
		return invalid("An event has at most %d extended properties of %d bytes in all.", maxProperties, maxPropertiesBytes)
	}
	return nil
}
