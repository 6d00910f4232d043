import { checkAddress } from "#config/parse.ts";
import { bool, grouped, int, list, oneOf, text } from "#config/variable.ts";
import { checkPairs } from "./pairs.ts";
import { checkReaders } from "./readers.ts";

/** Telemetry is configured by the environment alone and read once, at the start. */
export const telemetryVariables = grouped("Telemetry", {
  readers: list("METRICS_ACCESS", [], {
    secret: true,
    check: checkReaders,
    text: "Who may read GET /metrics: addresses or networks of scrapers, and token:<secret> for bearer tokens of 16 characters or more; empty switches it off",
  }),
  otel: bool("ENABLE_OTEL", false, { text: "Exports over OTLP/HTTP what the three variables below name" }),
  traces: bool("ENABLE_OTEL_TRACES", false, {
    text: "Exports a span for each request, stage of a completion, upstream request and job, while ENABLE_OTEL is on",
  }),
  metrics: bool("ENABLE_OTEL_METRICS", false, {
    text: "Exports the metrics of GET /metrics, while ENABLE_OTEL is on",
  }),
  logs: bool("ENABLE_OTEL_LOGS", false, { text: "Exports the lines of the log, while ENABLE_OTEL is on" }),
  endpoint: text("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:4318", {
    check: checkAddress,
    text: "Address of the collector (OTLP over HTTP); /v1/traces, /v1/metrics and /v1/logs are added",
  }),
  tracesEndpoint: text("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "", {
    check: checkAddress,
    text: "Full address for traces, in place of the one above",
  }),
  metricsEndpoint: text("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "", {
    check: checkAddress,
    text: "Full address for metrics",
  }),
  logsEndpoint: text("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", "", {
    check: checkAddress,
    text: "Full address for logs",
  }),
  headers: text("OTEL_EXPORTER_OTLP_HEADERS", "", {
    secret: true,
    check: checkPairs,
    text: "Headers of every export, as name=value pairs separated by commas, values percent-encoded",
  }),
  username: text("OTEL_BASIC_AUTH_USERNAME", "", {
    text: "User name of the collector, for basic authentication",
  }),
  password: text("OTEL_BASIC_AUTH_PASSWORD", "", { secret: true, text: "Password of the collector" }),
  serviceName: text("OTEL_SERVICE_NAME", "millrace", { text: "service.name of everything that is exported" }),
  attributes: text("OTEL_RESOURCE_ATTRIBUTES", "", {
    check: checkPairs,
    text: "Further attributes of everything that is exported, as name=value pairs separated by commas",
  }),
  sampler: oneOf(
    "OTEL_TRACES_SAMPLER",
    [
      "always_on",
      "always_off",
      "traceidratio",
      "parentbased_always_on",
      "parentbased_always_off",
      "parentbased_traceidratio",
    ],
    "parentbased_always_on",
    { text: "Which traces are exported" },
  ),
  samplerRatio: text("OTEL_TRACES_SAMPLER_ARG", "1", {
    check: (value) => (Number(value) >= 0 && Number(value) <= 1 ? undefined : "must be a number from 0 to 1"),
    text: "Share of traces that the traceidratio samplers export, from 0 to 1",
  }),
  interval: int("OTEL_METRIC_EXPORT_INTERVAL", 10_000, {
    aliases: ["OTEL_METRICS_EXPORT_INTERVAL_MILLIS"],
    min: 100,
    text: "Milliseconds between two exports of metrics",
  }),
});
