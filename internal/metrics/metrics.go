// Package metrics is the figures that whoever runs the server watches, as Prometheus
// reads them at /metrics.
//
// The parts of the program declare what they tell (calendarsync.Meter,
// scheduler.Meter, notify.Meter, gcal.Options.Called, …), and Metrics takes it
// in. What is stored is read when somebody asks (stored.go).
//
// No label ever names a person, a poll, a calendar, an account or a channel:
// every label has the values of a list in labels.go, and "other". So the number
// of series is known before the first is counted, and stays what it is.
package metrics

import (
	"net/http"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// namespace begins the name of every figure of ours.
const namespace = "questscheduler"

// Metrics takes in what the parts of one program tell, and answers with it. It
// is safe for concurrent use; nothing it does blocks or fails.
type Metrics struct {
	registry *prometheus.Registry
	now      func() time.Time

	watches, stopped, pushesRefused   *prometheus.CounterVec
	looks, transitions, commands      *prometheus.CounterVec
	syncErrors, mendings, announced   *prometheus.CounterVec
	discordRefused, calls, tasks      *prometheus.CounterVec
	requests, failures, records       *prometheus.CounterVec
	lookSeconds, behind, after        *prometheus.HistogramVec
	callSeconds, taskSeconds, seconds *prometheus.HistogramVec
}

// New makes the figures of a program of a version, with a registry of their own.
// now is the program's clock.
func New(version string, now func() time.Time) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry(), now: now}
	m.registry.MustRegister(
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Namespace: namespace, Name: "info", Help: "Always 1; its labels say which program this is.",
		ConstLabels: prometheus.Labels{"version": version, "go": runtime.Version()},
	})
	build.Set(1)
	m.registry.MustRegister(build)
	m.counted()
	m.timed()
	return m
}

// Handler answers GET /metrics. Figures that cannot be read are left out; the
// others are there all the same.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError})
}

// Gatherer gives the figures to whoever reads them within this process.
func (m *Metrics) Gatherer() prometheus.Gatherer { return m.registry }

// label is a label with the values that it can have. What is none of them
// counts as "other".
type label struct {
	name   string
	values []string
}

// other is the value of a label for what is none of its values.
const other = "other"

// counter makes a counter whose series are all there from the beginning, so that
// the first of a kind is an increase and not a new series.
func (m *Metrics) counter(name, help string, labels ...label) *prometheus.CounterVec {
	vec := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, namesOf(labels))
	m.registry.MustRegister(vec)
	eachSeries(labels, func(values []string) { vec.WithLabelValues(values...) })
	return vec
}

func (m *Metrics) histogram(name, help string, buckets []float64, labels ...label) *prometheus.HistogramVec {
	vec := prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: namespace, Name: name, Help: help, Buckets: buckets}, namesOf(labels))
	m.registry.MustRegister(vec)
	eachSeries(labels, func(values []string) { vec.WithLabelValues(values...) })
	return vec
}

func namesOf(labels []label) []string {
	names := make([]string, len(labels))
	for i, label := range labels {
		names[i] = label.name
	}
	return names
}

// eachSeries calls do with every combination of the labels' values.
func eachSeries(labels []label, do func(values []string)) {
	if len(labels) == 0 {
		do(nil)
		return
	}
	for _, value := range append([]string{other}, labels[0].values...) {
		eachSeries(labels[1:], func(rest []string) { do(append([]string{value}, rest...)) })
	}
}
