package callables

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"mime"
	"net/http"
	"strconv"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"questscheduler/fault"
)

// maxBody is the longest body of a call that is answered here.
const maxBody = 1 << 20

// badRequest is the protocol's answer to what is not a call.
func badRequest(cause error) error { return fault.Wrap(fault.Invalid, cause, "Bad Request") }

// readData reads a call: a JSON object whose one member is data, an object, or
// null without arguments. Package bodylimit bounds how long the body may take.
func readData(c echo.Context) (fields, error) {
	body, err := io.ReadAll(http.MaxBytesReader(c.Response(), c.Request().Body, maxBody))
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return nil, fault.Wrap(fault.TooLarge, err, "That is too large. Send less.")
	}
	if err != nil {
		return nil, badRequest(err)
	}
	kind, _, err := mime.ParseMediaType(c.Request().Header.Get(echo.HeaderContentType))
	if err != nil || kind != echo.MIMEApplicationJSON || !utf8.Valid(body) {
		return nil, badRequest(errors.Join(err, errors.New("the body is not JSON in UTF-8")))
	}
	var sent map[string]json.RawMessage
	if err := json.Unmarshal(body, &sent); err != nil {
		return nil, badRequest(err)
	}
	data, has := sent["data"]
	if !has || len(sent) != 1 {
		return nil, badRequest(errors.New("the body has other members than data"))
	}
	var given fields
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err := decoder.Decode(&given); err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "The data has to be an object.")
	}
	return given, nil
}

// fields are the data of a call. Null is the same as absent.
type fields map[string]any

// arguments reads the fields of a call. After the first that is wrong, err is
// set and everything reads as absent.
type arguments struct {
	fields fields
	err    error
}

func (a *arguments) refuse(format string, args ...any) {
	if a.err == nil {
		a.err = fault.Newf(fault.Invalid, format, args...)
	}
}

func (a *arguments) value(name string) any {
	if a.err != nil {
		return nil
	}
	return a.fields[name]
}

// optionalText is a text of at most longest characters; nil if absent.
func (a *arguments) optionalText(name string, longest int) *string {
	value := a.value(name)
	text, isText := value.(string)
	switch {
	case value == nil:
		return nil
	case !isText || utf8.RuneCountInString(text) > longest:
		a.refuse("%s has to be a text of at most %d characters.", name, longest)
		return nil
	}
	return &text
}

func (a *arguments) text(name string, longest int) string {
	if text := a.optionalText(name, longest); text != nil {
		return *text
	}
	return ""
}

func (a *arguments) id(name string) string { return a.text(name, 1024) }

func (a *arguments) bool(name string, absent bool) bool {
	value := a.value(name)
	if value == nil {
		return absent
	}
	given, isBool := value.(bool)
	if !isBool {
		a.refuse("%s has to be true or false.", name)
	}
	return given
}

// number is nil if absent. Firebase's clients for telephones write long numbers
// as an object.
func (a *arguments) number(name string) *float64 {
	text := ""
	switch value := a.value(name).(type) {
	case nil:
		return nil
	case json.Number:
		text = value.String()
	case map[string]any:
		text, _ = value["value"].(string)
	}
	number, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(number, 0) || math.IsNaN(number) {
		a.refuse("%s has to be a number.", name)
		return nil
	}
	return &number
}

// texts is a list of at most most texts, without the empty ones.
func (a *arguments) texts(name string, most, longest int) []string {
	value := a.value(name)
	given, isList := value.([]any)
	if value != nil && !isList || len(given) > most {
		a.refuse("%s has to be a list of at most %d.", name, most)
	}
	var list []string
	for _, item := range given {
		one := arguments{fields: fields{name: item}, err: a.err}
		if text := one.text(name, longest); text != "" {
			list = append(list, text)
		}
		a.err = one.err
	}
	return list
}
