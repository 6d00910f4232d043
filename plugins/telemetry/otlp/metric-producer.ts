import { type HrTime, ValueType } from "@opentelemetry/api";
import type { Resource } from "@opentelemetry/resources";
import {
  AggregationTemporality,
  DataPointType,
  type MetricData,
  type MetricProducer,
} from "@opentelemetry/sdk-metrics";
import type { MetricObjectWithValues, MetricValue, MetricValueWithName, Registry } from "prom-client";

type Read = MetricObjectWithValues<MetricValue<string>>;
type Piece = MetricValueWithName<string>;

/** Reads the registry of Prometheus for OTLP: each metric is measured once, whichever way it goes out. */
export function createMetricProducer(registry: Registry, resource: Resource): MetricProducer {
  const startTime = now();
  return {
    async collect() {
      const endTime = now();
      const read = (await registry.getMetricsAsJSON()) as unknown as Read[];
      const metrics = read.map((metric) => toMetricData(metric, { startTime, endTime }));
      return {
        resourceMetrics: { resource, scopeMetrics: [{ scope: { name: "millrace" }, metrics }] },
        errors: [],
      };
    },
  };
}

interface Span {
  readonly startTime: HrTime;
  readonly endTime: HrTime;
}

function toMetricData(metric: Read, span: Span): MetricData {
  const { name, help, type } = metric;
  const unit = name.includes("_seconds") ? "s" : name.endsWith("_bytes") ? "By" : "1";
  const descriptor = { name, description: help, unit, valueType: ValueType.DOUBLE };
  const common = { descriptor, aggregationTemporality: AggregationTemporality.CUMULATIVE };
  // The library gives its own numbers for kinds where its types say names.
  if (String(type) === "histogram") {
    return {
      ...common,
      dataPointType: DataPointType.HISTOGRAM,
      dataPoints: toHistograms(metric.values as Piece[], span),
    };
  }
  const dataPoints = metric.values.map(({ labels, value }) => ({
    ...span,
    attributes: toAttributes(labels),
    value,
  }));
  return String(type) === "counter"
    ? { ...common, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints }
    : { ...common, dataPointType: DataPointType.GAUGE, dataPoints };
}

/** Prometheus counts what lies below each bound, OTLP what lies between two of them. */
function toHistograms(pieces: readonly Piece[], span: Span) {
  const groups = Map.groupBy(pieces, ({ labels }) => JSON.stringify(toAttributes(labels)));
  return [...groups.values()].map((group) => {
    const buckets = group.filter(({ metricName }) => metricName?.endsWith("_bucket"));
    const below = buckets.map(({ value }) => value);
    const find = (end: string) => group.find(({ metricName }) => metricName?.endsWith(end))?.value ?? 0;
    return {
      ...span,
      attributes: toAttributes(group[0]?.labels ?? {}),
      value: {
        buckets: {
          boundaries: buckets.map(({ labels }) => Number(labels["le"])).filter(Number.isFinite),
          counts: below.map((count, at) => count - (below[at - 1] ?? 0)),
        },
        sum: find("_sum"),
        count: find("_count"),
      },
    };
  });
}

function toAttributes(labels: Partial<Record<string, string | number>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(labels)
      .filter(([name]) => name !== "le")
      .map(([name, value]) => [name, String(value)]),
  );
}

function now(): HrTime {
  const milliseconds = Date.now();
  return [Math.floor(milliseconds / 1000), (milliseconds % 1000) * 1_000_000];
}
