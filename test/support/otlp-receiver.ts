import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";
import { z } from "zod";

// The JSON form of opentelemetry-proto 1.x: ids are hexadecimal, 64-bit numbers texts, unknown fields are mistakes.
const hex = (digits: number) => z.string().regex(new RegExp(`^(?!0+$)[0-9a-f]{${digits}}$`));
const uint64 = z.union([z.string().regex(/^\d+$/), z.int().min(0)]);
const nanos = z.string().regex(/^[1-9]\d{17,19}$/);

const AnyValue: z.ZodType = z.lazy(() =>
  z
    .strictObject({
      stringValue: z.string(),
      boolValue: z.boolean(),
      intValue: z.union([z.string(), z.int()]),
      doubleValue: z.number(),
      bytesValue: z.string(),
      arrayValue: z.strictObject({ values: z.array(AnyValue) }),
      kvlistValue: z.strictObject({ values: Attributes }),
    })
    .partial()
    .refine((value) => Object.keys(value).length <= 1, "holds more than one kind of value"),
);
const Attributes = z
  .array(z.strictObject({ key: z.string().min(1), value: AnyValue }))
  .refine((all) => new Set(all.map(({ key }) => key)).size === all.length, "names an attribute twice");
const common = { attributes: Attributes, droppedAttributesCount: z.int().min(0).optional() };

const Resource = z
  .strictObject({ ...common, entityRefs: z.array(z.unknown()).optional() })
  .refine(({ attributes }) => attributes.some(({ key }) => key === "service.name"), "has no service.name");
const scope = z.strictObject({ name: z.string().min(1), version: z.string().optional(), ...partial(common) });
const schemaUrl = z.string().optional();

const Link = z.strictObject({ traceId: hex(32), spanId: hex(16), ...common, flags: z.int().optional() });
const SpanEvent = z.strictObject({ timeUnixNano: nanos, name: z.string().min(1), ...common });
const Span = z
  .strictObject({
    traceId: hex(32),
    spanId: hex(16),
    parentSpanId: hex(16).optional(),
    traceState: z.string().optional(),
    flags: z.int().min(0).optional(),
    name: z.string().min(1),
    kind: z.int().min(1).max(5),
    startTimeUnixNano: nanos,
    endTimeUnixNano: nanos,
    ...common,
    events: z.array(SpanEvent),
    droppedEventsCount: z.int(),
    links: z.array(Link),
    droppedLinksCount: z.int(),
    status: z.strictObject({ code: z.int().min(0).max(2), message: z.string().optional() }),
  })
  .refine((span) => BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano), "ends before it begins");

const point = { attributes: Attributes, startTimeUnixNano: nanos, timeUnixNano: nanos };
const NumberPoint = z
  .strictObject({
    ...point,
    asDouble: z.number().optional(),
    asInt: z.union([z.string(), z.int()]).optional(),
  })
  .refine(({ asDouble, asInt }) => (asDouble === undefined) !== (asInt === undefined), "has no one value");
const HistogramPoint = z
  .strictObject({
    ...point,
    count: uint64,
    sum: z.number().optional(),
    min: z.number().optional(),
    max: z.number().optional(),
    bucketCounts: z.array(uint64),
    explicitBounds: z.array(z.number()),
  })
  .refine(
    (one) => one.bucketCounts.length === one.explicitBounds.length + 1,
    "has not one bucket more than bounds",
  )
  .refine(
    (one) => one.bucketCounts.reduce((sum: number, n) => sum + Number(n), 0) === Number(one.count),
    "counts other than its buckets",
  )
  .refine(
    (one) => one.explicitBounds.every((bound, at, all) => at === 0 || bound > (all[at - 1] as number)),
    "has bounds out of order",
  );
const aggregationTemporality = z.int().min(1).max(2);
const Metric = z
  .strictObject({
    name: z.string().regex(/^[a-zA-Z][\w./-]{0,254}$/),
    description: z.string(),
    unit: z.string().max(63),
    gauge: z.strictObject({ dataPoints: z.array(NumberPoint) }).optional(),
    sum: z
      .strictObject({ dataPoints: z.array(NumberPoint), aggregationTemporality, isMonotonic: z.boolean() })
      .optional(),
    histogram: z.strictObject({ dataPoints: z.array(HistogramPoint), aggregationTemporality }).optional(),
  })
  .refine(
    ({ gauge, sum, histogram }) => [gauge, sum, histogram].filter(Boolean).length === 1,
    "has no one kind of data",
  );

const LogRecord = z.strictObject({
  timeUnixNano: nanos,
  observedTimeUnixNano: nanos,
  severityNumber: z.int().min(1).max(24),
  severityText: z.string(),
  body: AnyValue,
  eventName: z.string().optional(),
  ...common,
  flags: z.int().optional(),
  traceId: hex(32).optional(),
  spanId: hex(16).optional(),
});

const schemas = {
  "/v1/traces": z.strictObject({
    resourceSpans: z.array(
      z.strictObject({
        resource: Resource,
        schemaUrl,
        scopeSpans: z.array(z.strictObject({ scope, schemaUrl, spans: z.array(Span) })),
      }),
    ),
  }),
  "/v1/metrics": z.strictObject({
    resourceMetrics: z.array(
      z.strictObject({
        resource: Resource,
        schemaUrl,
        scopeMetrics: z.array(z.strictObject({ scope, schemaUrl, metrics: z.array(Metric) })),
      }),
    ),
  }),
  "/v1/logs": z.strictObject({
    resourceLogs: z.array(
      z.strictObject({
        resource: Resource,
        schemaUrl,
        scopeLogs: z.array(z.strictObject({ scope, schemaUrl, logRecords: z.array(LogRecord) })),
      }),
    ),
  }),
};

function partial<T extends Record<string, z.ZodType>>(shape: T) {
  return Object.fromEntries(Object.entries(shape).map(([name, type]) => [name, type.optional()]));
}

export type ReceivedSpan = z.infer<typeof Span>;
export type ReceivedMetric = z.infer<typeof Metric>;
export type ReceivedLog = z.infer<typeof LogRecord>;

/** A collector of OTLP over HTTP, on loopback; it refuses what the protocol does not allow, and keeps why. */
export interface OtlpReceiver {
  readonly url: string;
  readonly problems: string[];
  readonly headers: IncomingHttpHeaders[];
  readonly spans: ReceivedSpan[];
  /** The last state of each metric, by name. */
  readonly metrics: Map<string, ReceivedMetric>;
  readonly logs: ReceivedLog[];
  /** Attributes of the resources that sent something. */
  readonly resources: Record<string, unknown>[];
  close(): Promise<void>;
}

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const kept = {
    problems: [] as string[],
    headers: [] as IncomingHttpHeaders[],
    spans: [] as ReceivedSpan[],
    metrics: new Map<string, ReceivedMetric>(),
    logs: [] as ReceivedLog[],
    resources: [] as Record<string, unknown>[],
  };
  const take = (path: string, text: string) => {
    const schema = schemas[path as keyof typeof schemas];
    if (schema === undefined) {
      throw new Error(`${path} is no address of OTLP`);
    }
    const sent = schema.parse(JSON.parse(text));
    const note = (attributes: z.infer<typeof Attributes>) => kept.resources.push(toRecord(attributes));
    for (const { resource, scopeSpans } of "resourceSpans" in sent ? sent.resourceSpans : []) {
      note(resource.attributes);
      kept.spans.push(...scopeSpans.flatMap(({ spans }) => spans));
    }
    for (const { resource, scopeMetrics } of "resourceMetrics" in sent ? sent.resourceMetrics : []) {
      note(resource.attributes);
      scopeMetrics
        .flatMap(({ metrics }) => metrics)
        .forEach((metric) => kept.metrics.set(metric.name, metric));
    }
    for (const { resource, scopeLogs } of "resourceLogs" in sent ? sent.resourceLogs : []) {
      note(resource.attributes);
      kept.logs.push(...scopeLogs.flatMap(({ logRecords }) => logRecords));
    }
  };
  const server = createServer(async (request, response) => {
    const bytes = Buffer.concat(await request.toArray());
    kept.headers.push(request.headers);
    try {
      if (request.method !== "POST" || request.headers["content-type"] !== "application/json") {
        throw new Error(`${request.method} with ${request.headers["content-type"]}`);
      }
      take(
        request.url ?? "",
        String(request.headers["content-encoding"] === "gzip" ? gunzipSync(bytes) : bytes),
      );
      response.end("{}");
    } catch (error) {
      kept.problems.push(error instanceof z.ZodError ? z.prettifyError(error) : String(error));
      response.writeHead(400).end(JSON.stringify({ message: String(error) }));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    ...kept,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Attributes as an object of their texts and numbers. */
export function toRecord(attributes: readonly { key: string; value: unknown }[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value as object)[0]]));
}
