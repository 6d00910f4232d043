import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { call } from "../call.ts";
import { quantile } from "../client.ts";
import type { Running } from "../contestant.ts";
import { millrace } from "../contestants.ts";
import { type Bench, inRounds } from "../measure.ts";
import type { Scenario } from "../scenario.ts";

/** Rounds of each run; its model calls one tool in each but the last. */
const rounds = 20;
const model = "caller";

/** Overhead of one tool call without the tool itself, and of 200 offered tools for a request. */
export const toolCalls: Scenario = {
  id: "P23",
  title: "rounds of tools in a chat",
  async run(bench) {
    const upstream = await startCaller();
    const few = "1 tool";
    const contestants = [1, 200].map((count) =>
      millrace({
        name: count === 1 ? few : `${count} tools`,
        plugins: "many-tools",
        env: { BENCH_TOOLS: String(count) },
      }),
    );
    try {
      const own = { ...bench, mock: { ...bench.mock, port: upstream.port } };
      const [one = [], many = []] = await inRounds(own, contestants, (running) =>
        measure(bench, { running, upstream }),
      );
      const detail = (seen: typeof one) => seen.map(({ round }) => `${round.toFixed(2)} ms`).join(", ");
      return [
        {
          goal: "P23",
          what: "tool loop a call, p50, with the request of the next round",
          values: one.map(({ round }) => round),
          atMost: 2,
          unit: " ms",
          detail: `with 200 tools offered: ${detail(many)}`,
        },
        {
          goal: "P23",
          what: "200 tools offered against one, a request, p50 until the upstream has it",
          values: many.map(({ first }, at) => first - (one[at]?.first ?? 0)),
          atMost: 5,
          unit: " ms",
          detail: many
            .map(({ first }, at) => `${first.toFixed(1)} against ${one[at]?.first.toFixed(1)} ms`)
            .join(", "),
        },
      ];
    } finally {
      await upstream.close();
    }
  },
};

interface Caller {
  readonly port: number;
  /** When each request came, and when its answer had left. */
  readonly seen: { readonly came: number; left: number }[];
  close(): Promise<void>;
}

/** A model that calls a tool in each round but the last. */
async function startCaller(): Promise<Caller> {
  const seen: Caller["seen"] = [];
  const server = createServer(async (request, response) => {
    if (request.method !== "POST") {
      response.end(JSON.stringify({ object: "list", data: [{ id: model, object: "model" }] }));
      return;
    }
    const entry = { came: performance.now(), left: 0 };
    const { messages } = JSON.parse(await read(request)) as { messages: { role: string }[] };
    const done = messages.filter(({ role }) => role === "tool").length;
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(done < rounds ? toCall(done) : toText("Done."));
    entry.left = performance.now();
    seen.push(entry);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    seen,
    close: () => new Promise((resolve) => server.close(() => resolve()).closeAllConnections()),
  };
}

async function read(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) {
    pieces.push(piece as Buffer);
  }
  return Buffer.concat(pieces).toString();
}

const toFrames = (delta: object, finish: string) =>
  [
    { choices: [{ index: 0, delta, finish_reason: null }] },
    { choices: [{ index: 0, delta: {}, finish_reason: finish }] },
  ]
    .map(
      (chunk) => `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", model, ...chunk })}\n\n`,
    )
    .join("") + "data: [DONE]\n\n";

const toText = (content: string) => toFrames({ content }, "stop");

function toCall(step: number): string {
  const given = { name: "bench_0", arguments: JSON.stringify({ query: `step ${step}` }) };
  const calls = [{ index: 0, id: `call_${step}`, type: "function", function: given }];
  return toFrames({ tool_calls: calls }, "tool_calls");
}

/** Medians in milliseconds: from the end of a round to the request of the next, and from a request to its first round. */
async function measure(
  bench: Bench,
  { running, upstream }: { running: Running; upstream: Caller },
): Promise<{ round: number; first: number }> {
  const runs = bench.isQuick ? 5 : 25;
  const gaps: number[] = [];
  const firsts: number[] = [];
  for (let at = 0; at < runs + 5; at++) {
    upstream.seen.length = 0;
    const asked = performance.now();
    await runOnce(running);
    // The first runs warm the platform up.
    if (at >= 5) {
      firsts.push((upstream.seen[0]?.came ?? 0) - asked);
      gaps.push(...upstream.seen.slice(1).map(({ came }, index) => came - (upstream.seen[index]?.left ?? 0)));
    }
  }
  return { round: quantile(gaps, 0.5), first: quantile(firsts, 0.5) };
}

async function runOnce(running: Running): Promise<void> {
  const [question, id] = [randomUUID(), randomUUID()];
  const { chat_id: chatId } = (await call(running, "POST /api/chat/completions", {
    model,
    stream: true,
    session_id: "bench",
    parent_id: null,
    id,
    user_message: { id: question, role: "user", content: "Hi", parentId: null },
    messages: [{ role: "user", content: "Hi" }],
  })) as { chat_id: string };
  for (;;) {
    const { task_ids: ids } = (await call(running, `GET /api/tasks/chat/${chatId}`)) as {
      task_ids: string[];
    };
    if (ids.length === 0) {
      return;
    }
    await delay(20);
  }
}
