package discord

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Limits of embeds, in characters and pieces.
const (
	maxEmbeds      = 10
	maxFields      = 25
	maxTitle       = 256
	maxDescription = 4096
	maxFieldName   = 256
	maxFieldValue  = 1024
	maxFooter      = 2048
	maxAuthor      = 256
	maxAllEmbeds   = 6000 // all texts of all embeds of a message together
)

// embedTexts are the texts of an embed that count.
type embedTexts struct {
	Title       string `json:"title"`
	Description string `json:"description"`
	Fields      []struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	} `json:"fields"`
	Footer struct {
		Text string `json:"text"`
	} `json:"footer"`
	Author struct {
		Name string `json:"name"`
	} `json:"author"`
}

// checkEmbeds adds an error for every limit that is exceeded.
func checkEmbeds(embeds []json.RawMessage, wrong formErrors) {
	if len(embeds) > maxEmbeds {
		wrong.tooLong(maxEmbeds, "embeds")
	}
	total := 0
	count := func(text string, limit int, path ...string) {
		n := utf8.RuneCountInString(text)
		total += n
		if n > limit {
			wrong.tooLong(limit, path...)
		}
	}
	for i, raw := range embeds {
		at := index(i)
		var e embedTexts
		if json.Unmarshal(raw, &e) != nil {
			wrong.add("MODEL_TYPE_CONVERT", "A title, description, field, footer or author has the wrong type.", "embeds", at)
			continue
		}
		count(e.Title, maxTitle, "embeds", at, "title")
		count(e.Description, maxDescription, "embeds", at, "description")
		count(e.Footer.Text, maxFooter, "embeds", at, "footer", "text")
		count(e.Author.Name, maxAuthor, "embeds", at, "author", "name")
		if len(e.Fields) > maxFields {
			wrong.tooLong(maxFields, "embeds", at, "fields")
		}
		for k, field := range e.Fields {
			count(field.Name, maxFieldName, "embeds", at, "fields", index(k), "name")
			count(field.Value, maxFieldValue, "embeds", at, "fields", index(k), "value")
			if strings.TrimSpace(field.Name) == "" {
				wrong.required("embeds", at, "fields", index(k), "name")
			}
			if strings.TrimSpace(field.Value) == "" {
				wrong.required("embeds", at, "fields", index(k), "value")
			}
		}
	}
	if total > maxAllEmbeds {
		wrong.add("MAX_EMBED_SIZE_EXCEEDED", "Embed size exceeds maximum size of "+strconv.Itoa(maxAllEmbeds), "embeds")
	}
}

func index(i int) string { return strconv.Itoa(i) }
