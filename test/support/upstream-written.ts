import { PassThrough } from "node:stream";
import { chunk } from "./upstream-chunks.ts";
import type { Script } from "./upstream-exchange.ts";
import { sse } from "./upstream-scripts.ts";

/** A streamed reply that a test writes piece by piece. */
export interface WrittenReply {
  readonly script: Script;
  write(text: string): void;
  end(): void;
}

/** Makes a reply that answers one request. */
export function writtenReply(): WrittenReply {
  const frames = new PassThrough({ objectMode: true });
  frames.write(chunk({ role: "assistant", content: "" }));
  return {
    script: sse(frames),
    write: (text) => void frames.write(chunk({ content: text })),
    end: () => void frames.end(chunk({}, { finish: "stop" })),
  };
}
