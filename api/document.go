package api

import (
	"bytes"
	_ "embed" // for the page
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"

	"questscheduler/api/examples"
)

//go:embed docs.html
var docsText string

// docsPage shows a *huma.OpenAPI.
var docsPage = template.Must(template.New("docs").Funcs(template.FuncMap{
	"operations": operationsUnder,
	"example":    func(op *huma.Operation) *examples.Example { return exampleOf(op.OperationID) },
	"pretty": func(body json.RawMessage) (string, error) {
		var text bytes.Buffer
		err := json.Indent(&text, body, "", "  ")
		return text.String(), err
	},
	"tokenOf": strings.ToUpper,
	"takes": func(op *huma.Operation) string {
		if op.RequestBody == nil {
			return ""
		}
		return schemaName(op.RequestBody.Content)
	},
	"gives": func(op *huma.Operation) string {
		success := op.Responses[fmt.Sprint(op.DefaultStatus)]
		if success == nil {
			return ""
		}
		return schemaName(success.Content)
	},
	"values": parameterValues,
	"indented": func(schema *huma.Schema) (string, error) {
		text, err := json.MarshalIndent(schema, "", "  ")
		return string(text), err
	},
}).Parse(docsText))

// docsPolicy lets the page load nothing.
const docsPolicy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// documentRoutes serve the OpenAPI document and the page that shows it. Both are made
// on the first request, since most processes get none, and have no envelope.
func (s *server) documentRoutes() {
	describeBodies(s.huma.OpenAPI())
	attachExamples(s.huma.OpenAPI())
	document := sync.OnceValue(func() []byte { return writeDocument(s.huma.OpenAPI()) })
	page := sync.OnceValue(func() []byte { return writePage(s.huma.OpenAPI()) })
	s.echo.GET("/openapi.json", func(c echo.Context) error {
		return c.Blob(http.StatusOK, "application/openapi+json", document())
	}, s.limitAddress)
	s.echo.GET("/docs", func(c echo.Context) error {
		c.Response().Header().Set(echo.HeaderContentSecurityPolicy, docsPolicy)
		return c.HTMLBlob(http.StatusOK, page())
	}, s.limitAddress)
}

func writeDocument(api *huma.OpenAPI) []byte {
	document, err := json.Marshal(api)
	if err != nil {
		panic(fmt.Sprintf("api: marshal the OpenAPI document: %v", err)) // a route was declared wrong
	}
	return document
}

func writePage(api *huma.OpenAPI) []byte {
	var page bytes.Buffer
	if err := docsPage.Execute(&page, api); err != nil {
		panic(fmt.Sprintf("api: render the page of the routes: %v", err))
	}
	return page.Bytes()
}

// parameterValues says which values a parameter may have, and which it has if it is
// left out: "one of creator, participant; participant if left out".
func parameterValues(parameter *huma.Param) string {
	schema := parameter.Schema
	if schema == nil {
		return ""
	}
	var said []string
	if len(schema.Enum) > 0 {
		said = append(said, "one of "+inWords(schema.Enum))
	}
	if schema.Items != nil && len(schema.Items.Enum) > 0 {
		said = append(said, "any of "+inWords(schema.Items.Enum))
	}
	if schema.Minimum != nil && schema.Maximum != nil {
		said = append(said, fmt.Sprintf("%v to %v", *schema.Minimum, *schema.Maximum))
	}
	if schema.Default != nil {
		said = append(said, fmt.Sprint(schema.Default, " if left out"))
	}
	return strings.Join(said, "; ")
}

func inWords(values []any) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(values), " ", ", "), "[]")
}

// describeBodies documents our limits of bodies, which huma does not know.
func describeBodies(api *huma.OpenAPI) {
	for _, item := range api.Paths {
		for _, op := range operationsOf(item) {
			if op.RequestBody == nil {
				continue
			}
			op.RequestBody.Description = "JSON in UTF-8, 1 MiB at most."
			if !op.RequestBody.Required {
				op.RequestBody.Description += " May be left out."
			}
		}
	}
}

// describedOperation is an operation of the page.
type describedOperation struct {
	Method, Path string
	*huma.Operation
}

// operationsUnder lists the operations with a tag, by path.
func operationsUnder(api *huma.OpenAPI, tag string) (found []describedOperation) {
	for _, path := range slices.Sorted(maps.Keys(api.Paths)) {
		for _, op := range operationsOf(api.Paths[path]) {
			if slices.Contains(op.Tags, tag) {
				found = append(found, describedOperation{op.Method, path, op})
			}
		}
	}
	return found
}

func operationsOf(item *huma.PathItem) []*huma.Operation {
	return slices.DeleteFunc([]*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete},
		func(op *huma.Operation) bool { return op == nil })
}

func schemaName(content map[string]*huma.MediaType) string {
	media := content[echo.MIMEApplicationJSON]
	if media == nil || media.Schema == nil {
		return ""
	}
	return media.Schema.Ref[strings.LastIndexByte(media.Schema.Ref, '/')+1:]
}
