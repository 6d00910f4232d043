import type { TestUser } from "#test/support/app.ts";

// Frames are of every shape.
// oxlint-disable-next-line typescript/no-explicit-any
type Frame = any;

/** A client that follows events as a stream. */
export interface StreamClient {
  readonly frames: readonly Frame[];
  /** The number of the last frame. */
  readonly last: number;
  /** The id of the session, once the stream is open. */
  sessionId(): Promise<string>;
  /** Resolves with the first frame, past or future, that fits. */
  frame(fits: (frame: Frame) => boolean): Promise<Frame>;
  /** Resolves when the server, or something on the way, ended the answer. */
  readonly ended: Promise<void>;
  close(): void;
}

export interface StreamOptions {
  readonly sessionId?: string;
  readonly after?: number;
}

/** Opens a stream; throws when the server refuses. */
export async function followStream(
  url: string,
  { token }: Pick<TestUser, "token">,
  { sessionId, after = 0 }: StreamOptions = {},
): Promise<StreamClient> {
  const abort = new AbortController();
  const query = new URLSearchParams({ after: String(after), ...(sessionId && { session_id: sessionId }) });
  const response = await fetch(`${url}/api/v1/events?${query}`, {
    headers: { authorization: `Bearer ${token}` },
    signal: abort.signal,
  });
  if (!response.ok) {
    throw new Error(`refused with ${response.status}`);
  }
  const frames: Frame[] = [];
  const waiting = new Set<() => void>();
  const opened = Promise.withResolvers<string>();
  const state = { last: after };
  const take = (block: string) => {
    const data = /^data: (.*)$/m.exec(block)?.[1];
    if (data === undefined) {
      return;
    }
    if (block.startsWith("event: open")) {
      opened.resolve((JSON.parse(data) as { session_id: string }).session_id);
      return;
    }
    state.last = Number(/^id: (\d+)$/m.exec(block)?.[1]);
    frames.push(JSON.parse(data));
    waiting.forEach((look) => look());
  };
  const read = async () => {
    const decoder = new TextDecoder();
    let text = "";
    for await (const bytes of response.body as ReadableStream<Uint8Array>) {
      text += decoder.decode(bytes, { stream: true });
      const blocks = text.split("\n\n");
      text = blocks.pop() ?? "";
      blocks.forEach(take);
    }
  };
  return {
    frames,
    get last() {
      return state.last;
    },
    sessionId: () => opened.promise,
    frame: (fits) =>
      new Promise((resolve) => {
        const look = () => {
          const found = frames.find(fits);
          if (found !== undefined) {
            waiting.delete(look);
            resolve(found);
          }
        };
        waiting.add(look);
        look();
      }),
    ended: read().catch(() => undefined),
    close: () => abort.abort(),
  };
}
