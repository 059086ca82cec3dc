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
)

//go:embed docs.html
var docsText string

var docsPage = template.Must(template.New("docs").Parse(docsText))

// docsPolicy lets the page load nothing: it is whole as it is.
const docsPolicy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// documentRoutes serve the OpenAPI document and the page that shows it. Both
// are made when they are first asked for, since most processes are asked for
// neither; they are no answers and have no envelope.
func (s *server) documentRoutes() {
	describeBodies(s.huma.OpenAPI())
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
		panic(fmt.Sprintf("the OpenAPI document cannot be written: %v", err)) // a route was declared wrong
	}
	return document
}

func writePage(api *huma.OpenAPI) []byte {
	var page bytes.Buffer
	if err := docsPage.Execute(&page, describeRoutes(api)); err != nil {
		panic(fmt.Sprintf("the page of the routes cannot be written: %v", err))
	}
	return page.Bytes()
}

// describeBodies says of each route what its body may be, which huma leaves
// open.
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

// operationsOf are the routes of a path.
func operationsOf(item *huma.PathItem) []*huma.Operation {
	return slices.DeleteFunc([]*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete},
		func(op *huma.Operation) bool { return op == nil })
}

// docs is what the page shows.
type docs struct {
	Title, Version, Description string
	Routes                      []docsRoute
	Schemas                     []docsSchema
}

type docsRoute struct {
	Method, Path, Summary, Who string
	Parameters                 []docsParameter
	// Takes and Gives name schemas further down; "" where there is none.
	Takes, Gives string
}

type docsParameter struct {
	Name, In, Description string
	Required              bool
}

type docsSchema struct{ Name, Text string }

func describeRoutes(api *huma.OpenAPI) docs {
	page := docs{Title: api.Info.Title, Version: api.Info.Version, Description: api.Info.Description}
	for _, path := range slices.Sorted(maps.Keys(api.Paths)) {
		for _, op := range operationsOf(api.Paths[path]) {
			page.Routes = append(page.Routes, describeRoute(op))
		}
	}
	schemas := api.Components.Schemas.Map()
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		text, err := json.MarshalIndent(schemas[name], "", "  ")
		if err != nil {
			panic(fmt.Sprintf("schema %s cannot be written: %v", name, err))
		}
		page.Schemas = append(page.Schemas, docsSchema{Name: name, Text: string(text)})
	}
	return page
}

func describeRoute(op *huma.Operation) docsRoute {
	route := docsRoute{Method: op.Method, Path: op.Path, Summary: op.Summary, Who: op.Description}
	for _, p := range op.Parameters {
		route.Parameters = append(route.Parameters, docsParameter{Name: p.Name, In: p.In, Description: p.Description, Required: p.Required})
	}
	if op.RequestBody != nil {
		route.Takes = schemaName(op.RequestBody.Content)
	}
	if success := op.Responses[fmt.Sprint(op.DefaultStatus)]; success != nil {
		route.Gives = schemaName(success.Content)
	}
	return route
}

func schemaName(content map[string]*huma.MediaType) string {
	media := content[echo.MIMEApplicationJSON]
	if media == nil || media.Schema == nil {
		return ""
	}
	return media.Schema.Ref[strings.LastIndexByte(media.Schema.Ref, '/')+1:]
}
