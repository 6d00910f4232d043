import { modelCallEnded } from "#kernel/completion/model-call.ts";
import type { Events } from "#kernel/events.ts";
import type { Logger } from "#kernel/log.ts";
import { createMetrics, type MetricSources } from "./metrics/create-metrics.ts";
import { countCall, followWork } from "./metrics/follow.ts";
import { openOtlp, type TelemetryConfig } from "./otlp/open-otlp.ts";

export interface TelemetryParts extends MetricSources {
  readonly config: TelemetryConfig;
  readonly log: Logger;
  readonly instanceId: string;
  readonly events: Pick<Events, "on">;
}

/** Telemetry of a process that has it switched on. */
export interface Telemetry {
  read(): Promise<{ text: string; contentType: string }>;
  stop(): Promise<void>;
}

/** Begins to measure and to export. This module and its libraries are loaded by those who call it. */
export function openTelemetry(parts: TelemetryParts): Telemetry {
  const { config, events } = parts;
  const metrics = createMetrics(parts);
  const isMeasured = config.readers.length > 0 || (config.otel && config.metrics);
  const ends = isMeasured
    ? [followWork(metrics), events.on(modelCallEnded, (call) => countCall(metrics, call))]
    : [];
  const stopExports = config.otel ? openOtlp({ ...parts, registry: metrics.registry }) : undefined;
  return {
    read: async () => ({
      text: await metrics.registry.metrics(),
      contentType: metrics.registry.contentType,
    }),
    async stop() {
      await stopExports?.();
      ends.forEach((end) => end());
      metrics.registry.clear();
    },
  };
}
