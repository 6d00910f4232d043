import { createServer, type Socket } from "node:net";
import type { AddressInfo } from "node:net";
import { createClock } from "./clock.ts";

/** The upstream of every contestant: raw sockets and prebuilt answers, so that it costs next to nothing. */
export interface Mock {
  readonly port: number;
  /** Streams that are being written now. */
  streams(): number;
  sockets(): number;
  close(): Promise<void>;
}

/**
 * Models the mock offers. The name says what happens: `json` answers whole, `burst-N` writes N tokens at once,
 * `paced-N` writes N tokens, one every 20 ms, each in a TCP write of its own.
 */
export const models = [
  "json",
  "burst-5",
  "burst-200",
  "paced-100",
  "paced-500",
  "paced-2000",
  "paced-3000",
] as const;
export type Model = (typeof models)[number];

/** Tokens one answer of a model holds. */
export function tokensOf(model: Model): number {
  return Number(model.split("-")[1] ?? 0);
}

const tokenInterval = 20;
const lastChunk = Buffer.from("0\r\n\r\n");
const stamp = "@0000000000";
const clock = createClock();

/** Starts the mock in this process, on a free loopback port. */
export async function startMock(): Promise<Mock> {
  const sockets = new Set<Socket>();
  const pacer = createPacer();
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => {});
    serve(socket, pacer);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", 4096, resolve));
  return {
    port: (server.address() as AddressInfo).port,
    streams: pacer.count,
    sockets: () => sockets.size,
    async close() {
      pacer.stop();
      sockets.forEach((socket) => socket.destroy());
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function serve(socket: Socket, pacer: Pacer): void {
  let pending: Buffer | undefined;
  socket.on("data", (piece) => {
    pending = pending ? Buffer.concat([pending, piece]) : piece;
    const headEnd = pending.indexOf("\r\n\r\n");
    if (headEnd < 0) {
      return;
    }
    const head = pending.toString("latin1", 0, headEnd);
    const length = /content-length: *(\d+)/i.exec(head)?.[1];
    if (
      /transfer-encoding: *chunked/i.test(head)
        ? !endsChunked(pending)
        : pending.length < headEnd + 4 + Number(length ?? 0)
    ) {
      return;
    }
    const body = pending.toString("latin1", headEnd + 4);
    pending = undefined;
    answer(socket, pacer, head.startsWith("GET") ? undefined : body);
  });
}

function endsChunked(bytes: Buffer): boolean {
  return bytes.subarray(-5).equals(lastChunk);
}

function answer(socket: Socket, pacer: Pacer, body: string | undefined): void {
  if (body === undefined) {
    socket.write(modelList);
    return;
  }
  const model = /"model": *"([a-z0-9-]+)"/.exec(body)?.[1] as Model;
  if (model === "json") {
    socket.write(whole);
  } else if (model?.startsWith("burst")) {
    socket.write(bursts.get(model)!);
  } else {
    pacer.add(socket, model);
  }
}

type Pacer = ReturnType<typeof createPacer>;

/** Writes tokens evenly: a wheel of one slot a millisecond, each stream in one slot. */
function createPacer() {
  const wheel = Array.from({ length: tokenInterval }, () => new Set<PacedStream>());
  let joined = 0;
  let turned = performance.now();
  let position = 0;
  const timer = setInterval(() => {
    for (const now = performance.now(); turned <= now; turned++) {
      const slot = wheel[position++ % tokenInterval]!;
      slot.forEach((stream) => step(stream, slot));
    }
  }, 1);
  return {
    count: () => wheel.reduce((sum, slot) => sum + slot.size, 0),
    stop: () => clearInterval(timer),
    add(socket: Socket, model: Model) {
      const slot = wheel[joined++ % tokenInterval]!;
      const stream = { socket, frame: tokenFrame(model), left: tokensOf(model) };
      socket.write(streamHead(model));
      slot.add(stream);
      socket.once("close", () => slot.delete(stream));
    },
  };
}

interface PacedStream {
  readonly socket: Socket;
  readonly frame: string;
  left: number;
}

function step(stream: PacedStream, slot: Set<PacedStream>): void {
  if (stream.left-- > 0) {
    stream.socket.write(stream.frame.replace(stamp, clock.stamp()), "latin1");
    return;
  }
  slot.delete(stream);
  stream.socket.removeAllListeners("close");
  stream.socket.write(streamEnd);
}

const whole = withLength({
  id: "chatcmpl-bench",
  object: "chat.completion",
  created: 1_700_000_000,
  model: "json",
  choices: [
    {
      index: 0,
      message: { role: "assistant", content: "A plain answer. ".repeat(24) },
      logprobs: null,
      finish_reason: "stop",
    },
  ],
  usage: { prompt_tokens: 400, completion_tokens: 96, total_tokens: 496 },
  system_fingerprint: "fp_bench",
});
const modelList = withLength({
  object: "list",
  data: models.map((id) => ({ id, object: "model", created: 1_700_000_000, owned_by: "bench" })),
});
const streamEnd = Buffer.from(
  transferChunk(
    `data: ${chunk("paced", "{}", '"stop"')}\n\n` +
      `data: {"id":"chatcmpl-bench","object":"chat.completion.chunk","created":1700000000,"model":"paced","choices":[],"usage":{"prompt_tokens":400,"completion_tokens":100,"total_tokens":500}}\n\n` +
      "data: [DONE]\n\n",
  ) + "0\r\n\r\n",
);
const bursts = new Map(
  models
    .filter((model) => model.startsWith("burst"))
    .map((model) => [
      model as string,
      Buffer.concat([Buffer.from(streamHead(model) + tokenFrame(model).repeat(tokensOf(model))), streamEnd]),
    ]),
);

function streamHead(model: Model): string {
  return (
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n" +
    transferChunk(`data: ${chunk(model, '{"role":"assistant","content":""}', "null")}\n\n`)
  );
}

function tokenFrame(model: Model): string {
  return transferChunk(`data: ${chunk(model, `{"content":" tok${stamp}"}`, "null")}\n\n`);
}

function chunk(model: string, delta: string, finish: string): string {
  return `{"id":"chatcmpl-bench","object":"chat.completion.chunk","created":1700000000,"model":"${model}","system_fingerprint":"fp_bench","choices":[{"index":0,"delta":${delta},"logprobs":null,"finish_reason":${finish}}]}`;
}

function transferChunk(text: string): string {
  return `${text.length.toString(16)}\r\n${text}\r\n`;
}

function withLength(value: unknown): Buffer {
  const text = JSON.stringify(value);
  return Buffer.from(
    `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`,
  );
}
