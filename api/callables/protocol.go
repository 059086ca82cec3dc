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

	"questscheduler/internal/fault"
)

// maxBody is the longest body of a function of ours.
const maxBody = 1 << 20

// badRequest is how the protocol itself refuses what is no call.
func badRequest(cause error) error { return fault.Wrap(fault.Invalid, cause, "Bad Request") }

// readData reads a call: a JSON object whose one member is data, an object, or
// null without arguments.
func (s *server) readData(c echo.Context) (fields, error) {
	body, err := readBody(c)
	if err != nil {
		return nil, err
	}
	kind, _, err := mime.ParseMediaType(c.Request().Header.Get(echo.HeaderContentType))
	if err != nil || kind != echo.MIMEApplicationJSON || !utf8.Valid(body) {
		return nil, badRequest(errors.Join(err, errors.New("the body is not said to be JSON, or is no text")))
	}
	var sent map[string]json.RawMessage
	if err := json.Unmarshal(body, &sent); err != nil {
		return nil, badRequest(err)
	}
	data, has := sent["data"]
	if !has || len(sent) != 1 {
		return nil, badRequest(errors.New("the body has other members than data"))
	}
	var given map[string]any
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err := decoder.Decode(&given); err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "The data has to be an object.")
	}
	return given, nil
}

// readBody reads the body; how long it may take is package bodylimit's.
func readBody(c echo.Context) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(c.Response(), c.Request().Body, maxBody))
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return nil, fault.Wrap(fault.TooLarge, err, "That is too large. Send less.")
	}
	if err != nil {
		return nil, badRequest(err)
	}
	return body, nil
}

// fields are the data of a call. Null is the same as left out.
type fields map[string]any

// text is a text of at most so many characters; given tells whether there is one.
func (f fields) text(name string, longest int) (value string, given bool, err error) {
	switch value := f[name].(type) {
	case nil:
		return "", false, nil
	case string:
		if utf8.RuneCountInString(value) <= longest {
			return value, true, nil
		}
	}
	return "", false, fault.Newf(fault.Invalid, "%s has to be a text of at most %d characters.", name, longest)
}

// id is a text that names something; "" where none is given.
func (f fields) id(name string) (string, error) {
	value, _, err := f.text(name, 1024)
	return value, err
}

// truth is a yes or no, or where none is given what holds otherwise.
func (f fields) truth(name string, otherwise bool) (bool, error) {
	switch value := f[name].(type) {
	case nil:
		return otherwise, nil
	case bool:
		return value, nil
	default:
		return false, fault.Newf(fault.Invalid, "%s has to be true or false.", name)
	}
}

// number is a number; given tells whether there is one. Firebase's clients for
// telephones write long ones as an object of their own.
func (f fields) number(name string) (value float64, given bool, err error) {
	text := ""
	switch value := f[name].(type) {
	case nil:
		return 0, false, nil
	case json.Number:
		text = value.String()
	case map[string]any:
		text, _ = value["value"].(string)
	}
	value, err = strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(value, 0) || math.IsNaN(value) {
		return 0, false, fault.Newf(fault.Invalid, "%s has to be a number.", name)
	}
	return value, true, nil
}

// texts is a list of texts, each of at most so many characters; empty ones are
// left out.
func (f fields) texts(name string, most, longest int) ([]string, error) {
	given, ok := f[name].([]any)
	if f[name] != nil && !ok || len(given) > most {
		return nil, fault.Newf(fault.Invalid, "%s has to be a list of at most %d.", name, most)
	}
	var list []string
	for _, value := range given {
		text, _, err := fields{name: value}.text(name, longest)
		if err != nil {
			return nil, err
		}
		if text != "" {
			list = append(list, text)
		}
	}
	return list, nil
}
