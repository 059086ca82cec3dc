package api

import (
	"fmt"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"

	"questscheduler/api/examples"
)

// storedExamples are read on the first request of a document.
var storedExamples = sync.OnceValue(func() map[string]examples.Example {
	all, err := examples.Read()
	if err != nil {
		panic(fmt.Sprintf("api: %v", err)) // a file that the program embeds is wrong
	}
	return all
})

// exampleOf is the example of an operation; nil: it has none yet.
func exampleOf(operation string) *examples.Example {
	if example, ok := storedExamples()[operation]; ok {
		return &example
	}
	return nil
}

// attachExamples adds the examples to the document.
func attachExamples(api *huma.OpenAPI) {
	for _, item := range api.Paths {
		for _, op := range operationsOf(item) {
			example := exampleOf(op.OperationID)
			if example == nil {
				continue
			}
			if op.RequestBody != nil && example.Request.Body != nil {
				attach(op.RequestBody.Content[echo.MIMEApplicationJSON], example.Request.Body)
			}
			answered := op.Responses[fmt.Sprint(example.Response.Status)]
			if answered == nil {
				continue
			}
			if example.Response.Events != nil {
				attach(answered.Content["text/event-stream"], strings.Join(example.Response.Events, "\n")+"\n")
				continue
			}
			attach(answered.Content[echo.MIMEApplicationJSON], example.Response.Body)
		}
	}
}

func attach(media *huma.MediaType, value any) {
	if media != nil {
		media.Examples = map[string]*huma.Example{"example": {Summary: "As the server answered it.", Value: value}}
	}
}
