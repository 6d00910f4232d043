import { connect, type Socket } from "node:net";
import { ageOf } from "./clock.ts";

/** Counts of the client since the last reset. Times are milliseconds. */
export interface Counts {
  answers: number;
  tokens: number;
  /** Answers with fewer or more tokens than the model sends. */
  incomplete: number;
  failures: string[];
  /** From a token's write at the mock to its arrival. */
  relay: number[];
  /** From the request to the first token. */
  first: number[];
  /** From the request to the answer's end. */
  whole: number[];
}

export interface Load {
  /** Counts since the last reset, and a fresh start. */
  take(): Counts;
  /** Resolves when every running answer is complete; no new ones are asked for. */
  drain(): Promise<void>;
  /** Breaks all connections off. */
  stop(): void;
}

export interface LoadOptions {
  readonly port: number;
  /** The request, head and body. */
  readonly request: Buffer;
  readonly connections: number;
  /** Tokens a complete answer holds. */
  readonly tokens: number;
}

/** Keeps `connections` raw sockets busy: each asks again as soon as its answer is complete. */
export function startLoad(options: LoadOptions): Load {
  let counts = emptyCounts();
  let isDraining = false;
  const drained = Promise.withResolvers<void>();
  const lines = Array.from({ length: options.connections }, () => openLine(options, () => counts, next));
  let busy = lines.length;
  function next(line: Line) {
    if (!isDraining) {
      line.ask();
    } else if (--busy === 0) {
      drained.resolve();
    }
  }
  return {
    take() {
      const taken = counts;
      counts = emptyCounts();
      return taken;
    },
    drain() {
      isDraining = true;
      return drained.promise;
    },
    stop: () => lines.forEach((line) => line.close()),
  };
}

/** The value below which `share` of the sorted values lie. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).toSorted();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

interface Line {
  ask(): void;
  close(): void;
}

function openLine(options: LoadOptions, counts: () => Counts, next: (line: Line) => void): Line {
  const socket: Socket = connect({ port: options.port, host: "127.0.0.1", noDelay: true });
  let answer = createAnswer();
  let isClosed = false;
  const line = {
    ask() {
      answer = createAnswer();
      socket.write(options.request);
    },
    close() {
      isClosed = true;
      socket.destroy();
    },
  };
  socket.on("connect", line.ask);
  socket.on("error", (error) => counts().failures.push(error.message));
  socket.on("close", () => !isClosed && counts().failures.push("connection closed by the contestant"));
  socket.on("data", (piece) => {
    readTokens(answer, piece, counts());
    if (readAnswer(answer, piece)) {
      finish(answer, options, counts());
      next(line);
    }
  });
  return line;
}

type Answer = ReturnType<typeof createAnswer>;

function createAnswer() {
  return {
    asked: performance.now(),
    tokens: 0,
    head: "",
    status: 0,
    left: Number.NaN,
    tail: "",
    firstBytes: "",
  };
}

function readTokens(answer: Answer, piece: Buffer, counts: Counts): void {
  const now = performance.now();
  for (let at = piece.indexOf(64); at >= 0; at = piece.indexOf(64, at + 1)) {
    if (answer.tokens++ === 0) {
      counts.first.push(now - answer.asked);
    }
    counts.tokens++;
    const age = ageOf(piece, at, now);
    if (age !== undefined) {
      counts.relay.push(age);
    }
  }
}

/** Takes a piece in; true when the answer is complete. */
function readAnswer(answer: Answer, piece: Buffer): boolean {
  let from = 0;
  if (answer.status === 0) {
    answer.head += piece.toString("latin1");
    const end = answer.head.indexOf("\r\n\r\n");
    if (end < 0) {
      return false;
    }
    answer.status = Number(answer.head.slice(9, 12));
    answer.left = Number(/content-length: *(\d+)/i.exec(answer.head.slice(0, end))?.[1] ?? Number.NaN);
    answer.firstBytes = answer.head.slice(0, 1000);
    from = piece.length - (answer.head.length - end - 4);
  }
  if (!Number.isNaN(answer.left)) {
    answer.left -= piece.length - from;
    return answer.left <= 0;
  }
  answer.tail = (answer.tail + piece.toString("latin1", Math.max(from, piece.length - 5))).slice(-5);
  return answer.tail === "0\r\n\r\n";
}

function finish(answer: Answer, options: LoadOptions, counts: Counts): void {
  counts.answers++;
  counts.whole.push(performance.now() - answer.asked);
  if (answer.status !== 200) {
    counts.failures.push(answer.firstBytes);
  } else if (answer.tokens !== options.tokens) {
    counts.incomplete++;
  }
}

function emptyCounts(): Counts {
  return { answers: 0, tokens: 0, incomplete: 0, failures: [], relay: [], first: [], whole: [] };
}
