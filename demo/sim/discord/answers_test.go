package discord_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
)

// times joins n copies of a JSON value; %d in it is the number of the copy.
func times(n int, value string) string {
	var list []string
	for i := range n {
		list = append(list, strings.ReplaceAll(value, "%d", fmt.Sprint(i)))
	}
	return "[" + strings.Join(list, ",") + "]"
}

func long(n int) string { return strings.Repeat("ä", n) }

const (
	option = `{"label":"l","value":"%d"}`
	preset = `{"label":"l","value":"%d","default":true}`
)

// labelled is a modal with one component in a label.
func labelled(component string) string {
	return modal("t", "m", `[{"type":18,"label":"l","component":`+component+`}]`)
}

// choosing is a modal with options of one type of component.
func choosing(kind int, options, more string) string {
	return labelled(fmt.Sprintf(`{"type":%d,"custom_id":"c","options":%s%s}`, kind, options, more))
}

func modal(title, id, components string) string {
	return `{"type":9,"data":{"title":"` + title + `","custom_id":"` + id + `","components":` + components + `}}`
}

// rows is a message with one row of components.
func rows(components string) string {
	return `{"type":4,"data":{"content":"x","components":[{"type":1,"components":` + components + `}]}}`
}

func TestAnswers_Limits(t *testing.T) {
	t.Parallel()
	s := start(t)
	var answer atomic.Value
	s.asking(func(string) string { text, _ := answer.Load().(string); return text })
	anyRow := strings.Replace(voteRow, `"vote"`, `"%d"`, 1)
	pressed := s.post(`{"content":"x","components":[` + voteRow + `]}`)
	for _, row := range []struct {
		name, answer string
		kind         int    // 0: 2
		says         string // "": it is allowed
	}{
		{"message", hello, 0, ""},
		{"modal to a command", labelled(`{"type":23,"custom_id":"c"}`), 0, ""},
		{"modal to a submit", labelled(`{"type":23,"custom_id":"c"}`), 5, "type:"},
		{"deferred update of a command", `{"type":6}`, 0, "type:"},
		{"update by a command", `{"type":7,"data":{"content":"x"}}`, 0, "type:"},
		{"deferred update of a submit", `{"type":6}`, 5, "type:"},
		{"update by a submit", `{"type":7,"data":{"content":"x"}}`, 5, "type:"},
		{"deferred update of a press", `{"type":6}`, 3, ""},
		{"choices to a command", `{"type":8,"data":{"choices":[]}}`, 0, "type:"},
		{"message to an autocompletion", hello, 4, "type:"},
		{"choices to an autocompletion", `{"type":8,"data":{"choices":` + times(25, `{"name":"n","value":"%d"}`) + `}}`, 4, ""},
		{"26 choices", `{"type":8,"data":{"choices":` + times(26, `{"name":"n","value":"%d"}`) + `}}`, 4, "choices:"},
		{"long choice", `{"type":8,"data":{"choices":[{"name":"` + long(101) + `","value":1}]}}`, 4, "choices.0.name:"},
		{"no type", `{}`, 0, "type:"},
		{"a list", `[]`, 0, "invalid JSON"},

		{"2000 characters", `{"type":4,"data":{"content":"` + long(2000) + `"}}`, 0, ""},
		{"2001 characters", `{"type":4,"data":{"content":"` + long(2001) + `"}}`, 0, "content:"},
		{"nothing", `{"type":4,"data":{}}`, 0, "empty message"},
		{"11 embeds", `{"type":4,"data":{"embeds":` + times(11, `{"title":"t"}`) + `}}`, 0, "embeds:"},
		{"flag of a deferral", `{"type":4,"data":{"content":"x","flags":128}}`, 0, "flags:"},
		{"deferral with another flag", `{"type":5,"data":{"flags":4}}`, 0, "flags:"},
		{"101 mentions", `{"type":4,"data":{"content":"x","allowed_mentions":{"users":` + times(101, `"5"`) + `}}}`, 0, "users:"},

		{"5 rows", `{"type":4,"data":{"content":"x","components":` + times(5, anyRow) + `}}`, 0, ""},
		{"6 rows", `{"type":4,"data":{"content":"x","components":` + times(6, anyRow) + `}}`, 0, "components:"},
		{"5 buttons", rows(times(5, `{"type":2,"style":1,"label":"l","custom_id":"%d"}`)), 0, ""},
		{"6 buttons", rows(times(6, `{"type":2,"style":1,"label":"l","custom_id":"%d"}`)), 0, "components.0.components:"},
		{"an empty row", rows(`[]`), 0, "components.0.components:"},
		{"a button without a row", `{"type":4,"data":{"content":"x","components":[{"type":2}]}}`, 0, "components.0.type:"},
		{"long button", rows(`[{"type":2,"style":1,"label":"` + long(81) + `","custom_id":"c"}]`), 0, "0.label:"},
		{"button without a style", rows(`[{"type":2,"label":"l","custom_id":"c"}]`), 0, "0.style:"},
		{"button without an id", rows(`[{"type":2,"style":1,"label":"l"}]`), 0, "0.custom_id:"},
		{"button with a long id", rows(`[{"type":2,"style":1,"label":"l","custom_id":"` + long(101) + `"}]`), 0, "0.custom_id:"},
		{"one id twice", rows(times(2, `{"type":2,"style":1,"label":"l","custom_id":"c"}`)), 0, "1.custom_id:"},
		{"link", rows(`[{"type":2,"style":5,"label":"l","url":"https://example.com/"}]`), 0, ""},
		{"long link", rows(`[{"type":2,"style":5,"label":"l","url":"https://example.com/` + strings.Repeat("a", 493) + `"}]`), 0, "0.url:"},
		{"link with an id", rows(`[{"type":2,"style":5,"label":"l","url":"https://example.com/","custom_id":"c"}]`), 0, "0.custom_id:"},
		{"link to nowhere", rows(`[{"type":2,"style":5,"label":"l","url":"javascript:alert(1)"}]`), 0, "0.url:"},
		{"select", rows(`[{"type":3,"custom_id":"c","min_values":0,"options":` + times(25, option) + `}]`), 0, ""},
		{"select beside a button", rows(`[{"type":2,"style":1,"label":"l","custom_id":"b"},{"type":3,"custom_id":"c","options":` +
			times(1, option) + `}]`), 0, "1: The specified component"},
		{"text input in a message", rows(`[{"type":4,"custom_id":"c","style":1}]`), 0, "0.type:"},

		{"modal with a long title", modal(long(46), "m", `[{"type":10,"content":"x"}]`), 0, "title:"},
		{"modal with a long id", modal("t", long(101), `[{"type":10,"content":"x"}]`), 0, "custom_id:"},
		{"modal of nothing", modal("t", "m", `[]`), 0, "components:"},
		{"modal of five", modal("t", "m", times(5, `{"type":10,"content":"x"}`)), 0, ""},
		{"modal of six", modal("t", "m", times(6, `{"type":10,"content":"x"}`)), 0, "components:"},
		{"modal with a row", modal("t", "m", `[`+voteRow+`]`), 0, "components.0.type:"},
		{"long label", modal("t", "m", `[{"type":18,"label":"`+long(46)+`","component":{"type":23,"custom_id":"c"}}]`), 0, "0.label:"},
		{"long description", modal("t", "m", `[{"type":18,"label":"l","description":"`+long(101)+`"}]`), 0, "0.description:"},
		{"label without a component", modal("t", "m", `[{"type":18,"label":"l"}]`), 0, "0.component:"},
		{"label of a button", labelled(`{"type":2,"style":1,"label":"l","custom_id":"c"}`), 0, "component.type:"},
		{"one id in two labels", modal("t", "m", times(2, `{"type":18,"label":"l","component":{"type":23,"custom_id":"c"}}`)), 0,
			"1.component.custom_id:"},
		{"disabled", labelled(`{"type":23,"custom_id":"c","disabled":true}`), 0, "disabled:"},
		{"checkbox without an id", labelled(`{"type":23}`), 0, "custom_id:"},

		{"25 options", choosing(3, times(25, option), ""), 0, ""},
		{"26 options", choosing(3, times(26, option), ""), 0, "options:"},
		{"no options", labelled(`{"type":3,"custom_id":"c","options":[]}`), 0, "options:"},
		{"long option label", labelled(`{"type":3,"custom_id":"c","options":[{"label":"` + long(101) + `","value":"v"}]}`), 0, "0.label:"},
		{"long option value", labelled(`{"type":3,"custom_id":"c","options":[{"label":"l","value":"` + long(101) + `"}]}`), 0, "0.value:"},
		{"long option text", labelled(`{"type":3,"custom_id":"c","options":[{"label":"l","value":"v","description":"` + long(101) + `"}]}`), 0,
			"0.description:"},
		{"one value twice", choosing(3, times(2, `{"label":"l","value":"v"}`), ""), 0, "1.value:"},
		{"long placeholder", labelled(`{"type":3,"custom_id":"c","placeholder":"` + long(151) + `","options":` + times(1, option) + `}`), 0,
			"placeholder:"},
		{"more to choose than there is", choosing(3, times(2, option), `,"max_values":3`), 0, "max_values:"},
		{"least above most", choosing(3, times(2, option), `,"min_values":2,"max_values":1`), 0, "max_values:"},
		{"none, and required", choosing(3, times(2, option), `,"min_values":0`), 0, "min_values:"},
		{"none, and not required", choosing(3, times(2, option), `,"min_values":0,"required":false`), 0, ""},
		{"two defaults for one", choosing(3, times(2, preset), ""), 0, "options:"},

		{"text", labelled(`{"type":4,"custom_id":"c","style":2,"max_length":4000}`), 0, ""},
		{"text without a style", labelled(`{"type":4,"custom_id":"c"}`), 0, "style:"},
		{"too much text", labelled(`{"type":4,"custom_id":"c","style":2,"max_length":4001}`), 0, "max_length:"},
		{"least text above most", labelled(`{"type":4,"custom_id":"c","style":2,"min_length":5,"max_length":4}`), 0, "max_length:"},
		{"negative least text", labelled(`{"type":4,"custom_id":"c","style":2,"min_length":-1}`), 0, "min_length:"},
		{"value above most", labelled(`{"type":4,"custom_id":"c","style":1,"max_length":1,"value":"ab"}`), 0, "value:"},
		{"one radio", choosing(21, times(1, option), ""), 0, "options:"},
		{"ten radios", choosing(21, times(10, option), ""), 0, ""},
		{"eleven radios", choosing(21, times(11, option), ""), 0, "options:"},
		{"two radios chosen", choosing(21, times(2, preset), ""), 0, "options:"},
		{"ten boxes chosen", choosing(22, times(10, preset), ""), 0, ""},
		{"eleven boxes", choosing(22, times(11, option), ""), 0, "options:"},
		{"no boxes", labelled(`{"type":22,"custom_id":"c","options":[]}`), 0, "options:"},
		{"wrong type of a value", labelled(`{"type":22,"custom_id":5}`), 0, "component:"},
	} {
		t.Run(row.name, func(t *testing.T) {
			answer.Store(row.answer)
			var more []string
			if row.kind == 3 {
				more = append(more, `"message_id":"`+pressed.ID+`"`)
			}
			status, r := s.act(max(row.kind, 2), `{"custom_id":"vote"}`, more...)
			if row.says == "" && status != http.StatusOK {
				t.Errorf("answer %d %+v", status, r)
			}
			if row.says != "" && (status != http.StatusUnprocessableEntity || !strings.Contains(r.Error, row.says)) {
				t.Errorf("answer %d %+v", status, r)
			}
			if refused := s.call(http.MethodPatch, original(r.Token), `{"content":"x"}`); row.says != "" {
				wantRefusal(t, refused, http.StatusNotFound, 10062, "Unknown interaction")
			}
		})
	}
}
