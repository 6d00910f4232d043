import { diag, DiagLogLevel } from "@opentelemetry/api";
import { OTLPLogExporter } from "@opentelemetry/exporter-logs-otlp-http";
import { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-http";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { BatchLogRecordProcessor, LoggerProvider } from "@opentelemetry/sdk-logs";
import { MeterProvider, PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BasicTracerProvider,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
} from "@opentelemetry/sdk-trace-base";
import type { Registry } from "prom-client";
import type { Values } from "#config/variable.ts";
import type { Logger } from "#kernel/log.ts";
import type { telemetryVariables } from "../config.ts";
import { toPairs } from "../pairs.ts";
import { followLines } from "./lines.ts";
import { createMetricProducer } from "./metric-producer.ts";
import { openSpans } from "./spans.ts";

export type TelemetryConfig = Values<typeof telemetryVariables>;

export interface OtlpParts {
  readonly config: TelemetryConfig;
  readonly log: Logger;
  readonly version: string;
  readonly instanceId: string;
  /** Read only when metrics are exported. */
  readonly registry: Registry | undefined;
}

/** Starts the exports that are switched on. The function that comes back sends what is left and ends them. */
export function openOtlp({ config, log, version, instanceId, registry }: OtlpParts): () => Promise<void> {
  const resource = resourceFromAttributes({
    ...toPairs(config.attributes),
    "service.name": config.serviceName,
    "service.version": version,
    "service.instance.id": instanceId,
  });
  reportFailures(log);
  const ends: (() => Promise<void> | void)[] = [];
  const spans = config.traces ? openTraces() : undefined;
  if (config.metrics && registry) {
    const exporter = new OTLPMetricExporter(toTarget(config, config.metricsEndpoint || "/v1/metrics"));
    const metricProducers = [createMetricProducer(registry, resource)];
    const reader = new PeriodicExportingMetricReader({
      exporter,
      metricProducers,
      exportIntervalMillis: config.interval,
      exportTimeoutMillis: config.interval,
    });
    const provider = new MeterProvider({ resource, readers: [reader] });
    ends.push(() => provider.shutdown());
  }
  if (config.logs) {
    const exporter = new OTLPLogExporter(toTarget(config, config.logsEndpoint || "/v1/logs"));
    const provider = new LoggerProvider({
      resource,
      processors: [new BatchLogRecordProcessor({ exporter })],
    });
    ends.push(
      followLines(provider.getLogger("millrace"), () => spans?.active()),
      () => provider.shutdown(),
    );
  }
  return async () => {
    // In their order: what stops telling comes before what still sends.
    for (const end of ends) {
      await Promise.resolve(end()).catch((error: unknown) =>
        log.warn({ err: error }, "the last export failed"),
      );
    }
    diag.disable();
  };

  function openTraces() {
    const provider = new BasicTracerProvider({
      resource,
      sampler: toSampler(config),
      spanProcessors: [
        new BatchSpanProcessor(
          new OTLPTraceExporter(toTarget(config, config.tracesEndpoint || "/v1/traces")),
        ),
      ],
    });
    const open = openSpans(provider.getTracer("millrace"));
    ends.push(open.stop, () => provider.shutdown());
    return open;
  }
}

/** An address of a signal counts as it is; a path goes behind the common one. */
function toTarget(config: TelemetryConfig, address: string) {
  const { endpoint, username, password } = config;
  const basic = Buffer.from(`${username}:${password}`).toString("base64");
  return {
    url: address.startsWith("/") ? endpoint.replace(/\/$/, "") + address : address,
    headers: { ...(username !== "" && { authorization: `Basic ${basic}` }), ...toPairs(config.headers) },
  };
}

function toSampler({ sampler, samplerRatio }: TelemetryConfig): Sampler {
  const name = sampler.replace("parentbased_", "");
  const root =
    name === "always_on"
      ? new AlwaysOnSampler()
      : name === "always_off"
        ? new AlwaysOffSampler()
        : new TraceIdRatioBasedSampler(Number(samplerRatio));
  return name === sampler ? root : new ParentBasedSampler({ root });
}

const quietMs = 60_000;

/** A collector that is away fails each second; the log has it once a minute. */
function reportFailures(log: Logger): void {
  let next = 0;
  const tell = (message: string) => {
    if (performance.now() >= next) {
      next = performance.now() + quietMs;
      log.warn({ reason: message.slice(0, 500) }, "telemetry could not be exported");
    }
  };
  const none = () => {};
  diag.setLogger(
    { error: tell, warn: tell, info: none, debug: none, verbose: none },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
}
