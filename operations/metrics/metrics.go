// Package metrics is the figures of a program, as Prometheus reads them at
// /metrics. Metrics counts the events that the other packages hand over
// (internal/meter), calls, requests, runs of work and log lines; the stored figures
// are read on each scrape (stored.go).
//
// No label ever names a person, a poll, a calendar, an account or a channel: each
// has the values of a list in labels.go, and "other". So the number of series is
// known before the first is counted.
package metrics

import (
	"net/http"
	"runtime"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// namespace begins the name of every figure of ours.
const namespace = "questscheduler"

// Metrics counts for one program and answers with the figures. It is safe for
// concurrent use; nothing it does blocks or fails.
type Metrics struct {
	registry   *prometheus.Registry
	now        func() time.Time
	figures    map[string]figure
	counters   map[string]*prometheus.CounterVec
	histograms map[string]*prometheus.HistogramVec
}

// New makes the figures of a program of a version, with a registry of their own.
// now is the program's clock, and kinds are those of its work outside the store.
func New(version string, now func() time.Time, kinds []string) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(), now: now, figures: map[string]figure{},
		counters: map[string]*prometheus.CounterVec{}, histograms: map[string]*prometheus.HistogramVec{},
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Namespace: namespace, Name: "info", Help: "Always 1; its labels say which program this is.",
		ConstLabels: prometheus.Labels{"version": version, "go": runtime.Version()},
	})
	build.Set(1)
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), build)
	for _, f := range slices.Concat(figures, figuresOfWork(kinds)) {
		m.add(f)
	}
	return m
}

// add makes a figure whose series are all there from the beginning, so that the
// first of a kind is an increase and not a new series.
func (m *Metrics) add(f figure) {
	var names []string
	for _, label := range f.labels {
		names = append(names, label.name)
	}
	m.figures[f.name] = f
	if f.buckets == nil {
		vec := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: f.name, Help: f.help}, names)
		m.registry.MustRegister(vec)
		m.counters[f.name] = vec
		eachSeries(f.labels, func(values []string) { vec.WithLabelValues(values...) })
		return
	}
	vec := prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: namespace, Name: f.name, Help: f.help, Buckets: f.buckets}, names)
	m.registry.MustRegister(vec)
	m.histograms[f.name] = vec
	eachSeries(f.labels, func(values []string) { vec.WithLabelValues(values...) })
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

// count adds one to a counter.
func (m *Metrics) count(name string, values ...string) {
	m.counters[name].WithLabelValues(m.listed(name, values)...).Inc()
}

// countMany counts n at once.
func (m *Metrics) countMany(name string, n int, values ...string) {
	m.counters[name].WithLabelValues(m.listed(name, values)...).Add(float64(n))
}

// observe adds a time to a histogram. Clocks differ: a negative time counts as none.
func (m *Metrics) observe(name string, took time.Duration, values ...string) {
	m.histograms[name].WithLabelValues(m.listed(name, values)...).Observe(max(took, 0).Seconds())
}

// listed replaces each value that its label does not list.
func (m *Metrics) listed(name string, values []string) []string {
	for i, label := range m.figures[name].labels {
		values[i] = label.of(values[i])
	}
	return values
}

// Handler answers GET /metrics. Figures that cannot be read are left out.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError})
}

// Gatherer gives the figures to readers within this process.
func (m *Metrics) Gatherer() prometheus.Gatherer { return m.registry }
