import { gauges } from "#kernel/gauges.ts";
import { definePlugin } from "#kernel/plugin.ts";
import { deployment, events, hostRecords } from "#kernel/services.ts";
import { telemetryVariables } from "./config.ts";
import type { Telemetry } from "./open-telemetry.ts";
import { createReaders } from "./readers.ts";
import { metricsRoute } from "./routes.ts";

export default definePlugin({
  id: "telemetry",
  title: "Telemetry",
  summary: "Metrics for Prometheus; traces, metrics and logs over OpenTelemetry.",
  config: telemetryVariables,
  uses: { deployment, events, gauges, hostRecords },

  setup({ config, use, log }) {
    let telemetry: Telemetry | undefined;
    const isScraped = config.readers.length > 0;
    const isExported = config.otel && (config.traces || config.metrics || config.logs);
    return {
      routes: {
        main: [
          metricsRoute({
            mayRead: isScraped ? createReaders(config.readers) : undefined,
            read: async () => await (telemetry as Telemetry).read(),
          }),
        ],
      },
      async start() {
        if (config.otel && !isExported) {
          log.warn(
            "ENABLE_OTEL is on, but nothing is exported: switch ENABLE_OTEL_TRACES, ENABLE_OTEL_METRICS or ENABLE_OTEL_LOGS on",
          );
        }
        if (isScraped || isExported) {
          // Loaded here alone: a server without telemetry holds none of its libraries.
          const { openTelemetry } = await import("./open-telemetry.ts");
          telemetry = openTelemetry({
            config,
            log,
            events: use.events,
            version: use.deployment.version,
            instanceId: use.deployment.instanceId,
            gauges: () => use.gauges.list(),
            jobs: () => use.hostRecords.jobs(),
          });
        }
      },
      stop: async () => await telemetry?.stop(),
    };
  },
});
