package discord

import (
	"encoding/json"
	"net/url"
	"slices"
)

// The types of components, by Discord's numbers.
const (
	typeRow           = 1
	typeButton        = 2
	typeSelect        = 3 // its options are texts
	typeInput         = 4
	typeOtherSelects  = 8 // 5 to 8: of people, roles and channels
	typeTextDisplay   = 10
	typeLabel         = 18
	typeRadioGroup    = 21
	typeCheckboxGroup = 22
	typeCheckbox      = 23
)

// Limits of components, in characters and pieces.
const (
	maxRows         = 5
	maxButtons      = 5
	maxButtonLabel  = 80
	maxCustomID     = 100
	maxButtonURL    = 512
	maxOptionText   = 100
	maxPlaceholder  = 150
	styleLinkButton = 5
)

// component is what the limits of all types ask for.
type component struct {
	Type        int               `json:"type"`
	CustomID    string            `json:"custom_id"`
	Style       int               `json:"style"`
	Label       string            `json:"label"`
	Description string            `json:"description"`
	Emoji       json.RawMessage   `json:"emoji"`
	URL         string            `json:"url"`
	Disabled    bool              `json:"disabled"`
	Placeholder string            `json:"placeholder"`
	Required    *bool             `json:"required"`
	MinValues   *int              `json:"min_values"`
	MaxValues   *int              `json:"max_values"`
	MinLength   *int              `json:"min_length"`
	MaxLength   *int              `json:"max_length"`
	Value       string            `json:"value"`
	Content     string            `json:"content"`
	Options     []selectOption    `json:"options"`
	Components  []json.RawMessage `json:"components"`
	Component   json.RawMessage   `json:"component"`
}

type selectOption struct {
	Label       string `json:"label"`
	Value       string `json:"value"`
	Description string `json:"description"`
	Default     bool   `json:"default"`
}

// componentCheck adds an error for every limit that the components of one message or
// modal exceed.
type componentCheck struct {
	formErrors
	ids   map[string]bool // custom ids so far
	modal bool
}

// checkComponents checks those of a message, which stand in rows.
func checkComponents(list []json.RawMessage, wrong formErrors) {
	check := componentCheck{wrong, map[string]bool{}, false}
	if len(list) > maxRows {
		wrong.tooLong(maxRows, "components")
	}
	for i, raw := range list {
		at := []string{"components", index(i)}
		row, ok := check.read(raw, at)
		if !ok {
			continue
		}
		if row.Type != typeRow {
			wrong.choices("1", below(at, "type")...)
			continue
		}
		check.between(len(row.Components), 1, maxButtons, below(at, "components")...)
		for k, raw := range row.Components {
			check.inRow(raw, len(row.Components), below(at, "components", index(k)))
		}
	}
}

func below(path []string, names ...string) []string { return slices.Concat(path, names) }

func (c componentCheck) read(raw json.RawMessage, at []string) (component, bool) {
	var one component
	if err := json.Unmarshal(raw, &one); err != nil {
		c.add("MODEL_TYPE_CONVERT", "A value of the component has the wrong type.", at...)
		return one, false
	}
	return one, true
}

// inRow checks one of the components of a row.
func (c componentCheck) inRow(raw json.RawMessage, siblings int, at []string) {
	one, ok := c.read(raw, at)
	switch {
	case !ok:
	case one.Type == typeButton:
		c.button(one, at)
	case one.Type == typeSelect || one.Type > typeInput && one.Type <= typeOtherSelects:
		if siblings > 1 {
			c.add("COMPONENT_LAYOUT_WIDTH_EXCEEDED", "The specified component exceeds the maximum width", at...)
		}
		c.customID(one, at)
		if one.Type == typeSelect {
			c.choice(one, at)
		}
	default:
		c.choices("2, 3, 5, 6, 7, 8", below(at, "type")...)
	}
}

func (c componentCheck) button(b component, at []string) {
	least := 1
	if b.Emoji != nil {
		least = 0
	}
	c.text(b.Label, least, maxButtonLabel, below(at, "label")...)
	if b.Style < 1 || b.Style > styleLinkButton {
		c.choices("1, 2, 3, 4, 5", below(at, "style")...)
		return
	}
	if b.Style != styleLinkButton {
		c.customID(b, at)
		if b.URL != "" {
			c.add("BUTTON_COMPONENT_URL_NOT_ALLOWED", "Only a link button has a url", below(at, "url")...)
		}
		return
	}
	c.text(b.URL, 1, maxButtonURL, below(at, "url")...)
	if to, err := url.Parse(b.URL); err != nil || to.Host == "" || !slices.Contains([]string{"http", "https", "discord"}, to.Scheme) {
		c.add("URL_TYPE_INVALID_URL", "Not a well formed URL.", below(at, "url")...)
	}
	if b.CustomID != "" {
		c.add("BUTTON_COMPONENT_CUSTOM_ID_URL_MUTUALLY_EXCLUSIVE", "A custom id and url cannot both be specified", below(at, "custom_id")...)
	}
}

// customID wants one, unlike all others.
func (c componentCheck) customID(one component, at []string) {
	c.text(one.CustomID, 1, maxCustomID, below(at, "custom_id")...)
	if c.ids[one.CustomID] {
		c.add("COMPONENT_CUSTOM_ID_DUPLICATED", "Component custom id cannot be duplicated", below(at, "custom_id")...)
	}
	c.ids[one.CustomID] = true
}

// optionLimits are how many options each type has.
var optionLimits = map[int]struct{ least, most int }{typeSelect: {1, 25}, typeRadioGroup: {2, 10}, typeCheckboxGroup: {1, 10}}

// choice checks a select, a radio group or a checkbox group.
func (c componentCheck) choice(one component, at []string) {
	limits := optionLimits[one.Type]
	c.between(len(one.Options), limits.least, limits.most, below(at, "options")...)
	c.text(one.Placeholder, 0, maxPlaceholder, below(at, "placeholder")...)
	values, chosen := map[string]bool{}, 0
	for i, o := range one.Options {
		here := below(at, "options", index(i))
		c.text(o.Label, 1, maxOptionText, below(here, "label")...)
		c.text(o.Value, 1, maxOptionText, below(here, "value")...)
		c.text(o.Description, 0, maxOptionText, below(here, "description")...)
		if values[o.Value] {
			c.add("SELECT_COMPONENT_OPTION_VALUE_DUPLICATED", "The specified option value is already used", below(here, "value")...)
		}
		values[o.Value] = true
		if o.Default {
			chosen++
		}
	}
	least, most := one.bounds()
	count := len(one.Options)
	switch {
	case least < 0 || least > count:
		c.outside(0, count, below(at, "min_values")...)
	case most < 1 || most > count && one.MaxValues != nil || most < least:
		c.outside(max(1, least), count, below(at, "max_values")...)
	case c.modal && least == 0 && (one.Required == nil || *one.Required):
		c.add("COMPONENT_MIN_VALUES_REQUIRED", "min_values of 0 needs required to be false", below(at, "min_values")...)
	case chosen > most:
		c.add("SELECT_COMPONENT_TOO_MANY_DEFAULTS", "More options are default than max_values allows", below(at, "options")...)
	}
}

// bounds are how many options a person chooses.
func (one component) bounds() (least, most int) {
	least, most = 1, 1
	if one.Type == typeCheckboxGroup {
		most = len(one.Options)
	}
	if one.MinValues != nil {
		least = *one.MinValues
	}
	if one.MaxValues != nil {
		most = *one.MaxValues
	}
	return least, most
}
