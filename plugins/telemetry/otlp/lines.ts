import { type Context, ROOT_CONTEXT } from "@opentelemetry/api";
import { type AnyValueMap, type Logger, SeverityNumber } from "@opentelemetry/api-logs";
import { lineLogged } from "#kernel/work.ts";

const severities: Readonly<Record<string, SeverityNumber>> = {
  trace: SeverityNumber.TRACE,
  debug: SeverityNumber.DEBUG,
  info: SeverityNumber.INFO,
  warn: SeverityNumber.WARN,
  error: SeverityNumber.ERROR,
  fatal: SeverityNumber.FATAL,
};

/** Exports each line of the log, with the span that wrote it, until the function that comes back is called. */
export function followLines(logger: Logger, active: () => Context | undefined): () => void {
  const tell = (message: unknown) => {
    const { time, level, msg, ...attributes } = JSON.parse(message as string) as Record<string, unknown>;
    // A collector that is away is told in the log; that line would wait for the same collector.
    if (attributes["plugin"] !== "telemetry") {
      logger.emit({
        timestamp: new Date(String(time)),
        severityNumber: severities[String(level)] ?? SeverityNumber.INFO,
        severityText: String(level).toUpperCase(),
        body: String(msg ?? ""),
        attributes: attributes as AnyValueMap,
        context: active() ?? ROOT_CONTEXT,
      });
    }
  };
  lineLogged.subscribe(tell);
  return () => void lineLogged.unsubscribe(tell);
}
