import type { IncomingMessage } from "node:http";
import { AppError } from "#kernel/errors.ts";
import { defineRoute, reply } from "#kernel/http/route.ts";

export interface MetricsRouteParts {
  /** Undefined while GET /metrics is switched off. */
  readonly mayRead: ((request: IncomingMessage) => boolean) | undefined;
  /** The metrics as text, and its content type. */
  read(): Promise<{ text: string; contentType: string }>;
}

/** The address that Prometheus scrapes. */
export function metricsRoute({ mayRead, read }: MetricsRouteParts) {
  return defineRoute(
    {
      method: "GET",
      path: "/metrics",
      isProbe: true,
      summary: "Read the metrics of this process in the text format of Prometheus (METRICS_ACCESS)",
      access: "token",
      produces: "text/plain",
      fails: [401, 404],
    },
    async ({ raw }) => {
      if (mayRead === undefined) {
        throw new AppError("not_found", "Metrics are switched off. Set METRICS_ACCESS to switch them on.");
      }
      if (!mayRead(raw as IncomingMessage)) {
        const headers = { "www-authenticate": "Bearer" };
        throw new AppError("unauthenticated", "METRICS_ACCESS names neither this address nor this token.", {
          headers,
        });
      }
      const { text, contentType } = await read();
      return reply(text, { headers: { "content-type": contentType, "cache-control": "no-store" } });
    },
  );
}
