import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { defineFilter } from "#kernel/pipeline/filter.ts";
import { definePlugin } from "#kernel/plugin.ts";
import { lineLogged, workBegan, workEnded } from "#kernel/work.ts";
import { type RunStage, startRunStage } from "#plugins/runs/runs.fixture.ts";
import { queryEnded } from "#storage/query-times.ts";
import { type OtlpReceiver, startOtlpReceiver, toRecord } from "#test/support/otlp-receiver.ts";
import { useApp } from "#test/support/shared-apps.ts";
import { textChunks } from "#test/support/upstream-chunks.ts";
import { sse } from "#test/support/upstream-scripts.ts";

const token = "scraper-token-0123456789";
const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
const looker = definePlugin({
  id: "looker",
  title: "Looks at conversations",
  setup: () => ({
    filters: [defineFilter({ id: "looker.look", name: "Look", priority: 0, outlet: (seen) => seen })],
  }),
});

let receiver: OtlpReceiver;
let stage: RunStage;

beforeAll(async () => {
  receiver = await startOtlpReceiver();
  stage = await startRunStage({
    plugins: [looker],
    env: {
      METRICS_ACCESS: `10.0.0.0/8,token:${token}`,
      ENABLE_OTEL: "true",
      ENABLE_OTEL_TRACES: "true",
      ENABLE_OTEL_METRICS: "true",
      ENABLE_OTEL_LOGS: "true",
      OTEL_EXPORTER_OTLP_ENDPOINT: `${receiver.url}/`,
      OTEL_EXPORTER_OTLP_HEADERS: "x-tenant=mill%20race",
      OTEL_BASIC_AUTH_USERNAME: "ada",
      OTEL_BASIC_AUTH_PASSWORD: "lovelace",
      OTEL_RESOURCE_ATTRIBUTES: "deployment.environment=test",
      // The last export is the one at the end.
      OTEL_METRIC_EXPORT_INTERVAL: "600000",
      GLOBAL_LOG_LEVEL: "INFO",
    },
  });
});
afterAll(async () => {
  await stage?.close();
  await receiver?.close();
});

const scrape = (headers: Record<string, string>) => stage.app.call("GET /metrics", { headers });
const withToken = (given: string) => scrape({ authorization: `Bearer ${given}` });

async function writeReply(): Promise<void> {
  const { chatId, replyId } = await stage.makeChat();
  stage.upstream.reply("/chat/completions", sse(textChunks("Hello there", { usage })));
  await stage.complete({ chat_id: chatId, id: replyId });
  await stage.ended(chatId);
}

it("answers metrics to addresses and tokens of METRICS_ACCESS alone", async () => {
  const refused = [
    await scrape({}),
    await withToken("another-token-0123456789"),
    await withToken(stage.user.token),
  ];
  expect(refused.map(({ status }) => status)).toEqual([401, 401, 401]);
  // A caller can write any address into a header.
  expect((await scrape({ "x-forwarded-for": "10.0.0.1" })).status).toBe(401);
  const answer = await withToken(token);
  expect([answer.status, answer.headers.get("content-type")]).toEqual([
    200,
    "text/plain; version=0.0.4; charset=utf-8",
  ]);
});

it("counts a completion: its request, tokens, first token, stages, statements and upstream", async () => {
  await writeReply();
  const { text } = await withToken(token);
  const read = (line: string) =>
    Number(new RegExp(`^${line.replaceAll(/[{}/.:]/g, "\\$&")} (.+)$`, "m").exec(text)?.[1]);
  const of = 'provider="common",model="alpha"';
  const host = new URL(stage.upstream.url).host;
  expect({
    input: read(`millrace_tokens_total{${of},direction="input"}`),
    output: read(`millrace_tokens_total{${of},direction="output"}`),
    firstTokens: read(`millrace_time_to_first_token_seconds_count{${of}}`),
    calls: read(`millrace_model_calls_total{${of},outcome="completed"}`),
    requests: read('millrace_http_requests_total{route="POST /api/chat/completions",status="200"}'),
    streams: read("millrace_open_streams"),
    persisted: read('millrace_completion_stage_duration_seconds_count{stage="persist"}'),
    sockets: read("millrace_sockets"),
  }).toEqual({
    input: 10,
    output: 5,
    firstTokens: 1,
    calls: 1,
    requests: 1,
    streams: 0,
    persisted: 1,
    sockets: 0,
  });
  expect(read("millrace_database_query_duration_seconds_count")).toBeGreaterThan(0);
  expect(read(`millrace_upstream_request_duration_seconds_count{upstream="${host}"}`)).toBeGreaterThan(0);
  expect(read("millrace_nodejs_eventloop_lag_p99_seconds")).toBeGreaterThan(0);
});

it("has every metric that the dashboard and the alert rules of the docs name", async () => {
  const { text } = await withToken(token);
  const known = Array.from(text.matchAll(/^# TYPE (\w+) (\w+)$/gm), ([, name, type]) =>
    type === "histogram" ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
  ).flat();
  for (const file of ["grafana.json", "alerts.yml"]) {
    const page = await readFile(new URL(`../../docs/telemetry/${file}`, import.meta.url), "utf8");
    const named = [...new Set(page.match(/\bmillrace_\w+/g))];
    expect(named.length).toBeGreaterThan(8);
    expect(named.filter((name) => !known.includes(name))).toEqual([]);
  }
});

it("exports what the protocol allows: the stages of a completion in one trace, metrics, and lines of the log", async () => {
  await writeReply();
  await stage.app.running.stop();
  expect(receiver.problems).toEqual([]);
  expect(receiver.headers[0]).toMatchObject({
    authorization: `Basic ${Buffer.from("ada:lovelace").toString("base64")}`,
    "x-tenant": "mill race",
  });
  expect(receiver.resources[0]).toMatchObject({
    "service.name": "millrace",
    "deployment.environment": "test",
  });
  const root = receiver.spans.findLast(({ name }) => name === "POST /api/chat/completions");
  const own = receiver.spans.filter(({ traceId }) => traceId === root?.traceId);
  const stages = own.filter(({ name }) => !name.includes(" ")).map(({ name }) => name);
  expect(stages.toSorted()).toEqual(["admit", "inlet", "outlet", "persist", "provider", "stream", "tools"]);
  const ids = new Set(own.map(({ spanId }) => spanId));
  expect(own.filter(({ parentSpanId = "" }) => !ids.has(parentSpanId))).toEqual([root]);
  expect(toRecord(own.find(({ name }) => name === "stream")?.attributes ?? [])).toMatchObject({
    "gen_ai.request.model": "alpha",
  });
  expect(receiver.metrics.get("millrace_tokens_total")?.sum?.isMonotonic).toBe(true);
  const firstToken = receiver.metrics.get("millrace_time_to_first_token_seconds");
  expect([firstToken?.unit, firstToken?.histogram?.dataPoints[0]?.count]).toEqual(["s", 2]);
  expect(receiver.logs.some(({ traceId }) => traceId === root?.traceId)).toBe(true);
});

it("measures nothing where it is switched off", async () => {
  const app = await useApp();
  expect((await app.call("GET /metrics")).status).toBe(404);
  expect([workBegan, workEnded, lineLogged, queryEnded].map(({ hasSubscribers }) => hasSubscribers)).toEqual([
    false,
    false,
    false,
    false,
  ]);
});
