package discord

import "encoding/json"

// Limits of modals, in characters and pieces.
const (
	maxModalTitle       = 45
	maxModalComponents  = 5
	maxLabel            = 45
	maxLabelDescription = 100
	maxInput            = 4000
	maxInputPlaceholder = 100
)

// checkModal checks an answer that opens a modal.
func checkModal(fields map[string]json.RawMessage) error {
	check := componentCheck{formErrors{}, map[string]bool{}, true}
	for _, field := range []struct {
		name string
		most int
	}{{"title", maxModalTitle}, {"custom_id", maxCustomID}} {
		var text string
		decode(fields[field.name], &text, check.formErrors, "STRING_TYPE_CONVERT", "Could not interpret value as string.", field.name)
		check.text(text, 1, field.most, field.name)
	}
	list := readList(fields, "components", check.formErrors)
	check.between(len(list), 1, maxModalComponents, "components")
	for i, raw := range list {
		at := []string{"components", index(i)}
		one, ok := check.read(raw, at)
		switch {
		case !ok:
		case one.Type == typeTextDisplay:
			check.text(one.Content, 1, maxInput, below(at, "content")...)
		case one.Type == typeLabel:
			check.label(one, at)
		default:
			check.choices("10, 18", below(at, "type")...)
		}
	}
	return check.problem()
}

// label checks a label and the one component that it holds.
func (c componentCheck) label(l component, at []string) {
	c.text(l.Label, 1, maxLabel, below(at, "label")...)
	c.text(l.Description, 0, maxLabelDescription, below(at, "description")...)
	at = below(at, "component")
	if l.Component == nil {
		c.required(at...)
		return
	}
	one, ok := c.read(l.Component, at)
	if !ok {
		return
	}
	c.customID(one, at)
	if one.Disabled {
		c.add("COMPONENT_DISABLED_IN_MODAL", "A component of a modal cannot be disabled", below(at, "disabled")...)
	}
	switch one.Type {
	case typeSelect, typeRadioGroup, typeCheckboxGroup:
		c.choice(one, at)
	case typeInput:
		c.input(one, at)
	case typeCheckbox:
	default:
		c.choices("3, 4, 21, 22, 23", below(at, "type")...)
	}
}

func (c componentCheck) input(in component, at []string) {
	if in.Style != 1 && in.Style != 2 {
		c.choices("1, 2", below(at, "style")...)
	}
	least, most := 0, maxInput
	if in.MinLength != nil {
		least = *in.MinLength
	}
	if in.MaxLength != nil {
		most = *in.MaxLength
	}
	if least < 0 || least > maxInput {
		c.outside(0, maxInput, below(at, "min_length")...)
	}
	if most < max(1, least) || most > maxInput {
		c.outside(max(1, least), maxInput, below(at, "max_length")...)
	}
	c.text(in.Value, 0, most, below(at, "value")...)
	c.text(in.Placeholder, 0, maxInputPlaceholder, below(at, "placeholder")...)
}
