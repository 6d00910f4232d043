import { connectPlain, connectSocketIo } from "#test/support/sockets.ts";
import type { Upstream } from "#test/support/upstream.ts";

// Payloads are of every shape.
// oxlint-disable-next-line typescript/no-explicit-any
type Any = any;

/** A person's open client that keeps a connection of its own and calls it when the server asks. */
export interface DirectClient {
  readonly sessionId: string;
  /** What the server asked for, in order. */
  readonly asked: Any[];
  /** Acknowledgements of what it emitted on channels. */
  readonly acknowledged: Any[];
  close(): void;
}

export type Transport = "plain" | "socket.io";

/** Opens a client of either transport. As browsers do, it cuts lines wherever the network cut them. */
export async function openDirectClient(
  { url }: { url: string },
  token: string,
  { upstream, transport = "plain" }: { upstream: Upstream; transport?: Transport },
): Promise<DirectClient> {
  const asked: Any[] = [];
  const acknowledged: Any[] = [];
  let emit: (event: string, data: unknown) => Promise<unknown>;
  const answer = async (payload: Any) => {
    if (payload.data.type !== "request:chat:completion") {
      return null;
    }
    const { form_data: form, channel } = payload.data.data;
    asked.push(payload);
    const send = async (data: unknown) => void acknowledged.push(await emit(channel, data));
    try {
      return await callUpstream(upstream, form, send);
    } catch (error) {
      return { error: { message: (error as Error).message } };
    }
  };
  if (transport === "plain") {
    const client = await connectPlain(url, { token, answer });
    emit = client.emit;
    return { sessionId: await client.sessionId(), asked, acknowledged, close: client.close };
  }
  const socket = await connectSocketIo(url, token);
  emit = (event, data) => socket.timeout(5000).emitWithAck(event, data);
  socket.on("events", (payload: Any, acknowledge?: (value: unknown) => void) => {
    void answer(payload).then((value) => acknowledge?.(value));
  });
  return { sessionId: socket.id!, asked, acknowledged, close: () => socket.close() };
}

async function callUpstream(
  upstream: Upstream,
  form: Any,
  send: (data: unknown) => Promise<void>,
): Promise<unknown> {
  const response = await fetch(`${upstream.url}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(form),
  });
  if (!response.ok) {
    throw new Error(`The upstream said ${response.status}.`);
  }
  if (form.stream !== true) {
    return await response.json();
  }
  // A stream that breaks ends like one that is over: the reader sees what is missing.
  void passOn(response, send).catch(() => send({ done: true }).catch(() => undefined));
  return { status: true };
}

async function passOn(response: Response, send: (data: unknown) => Promise<void>): Promise<void> {
  const decoder = new TextDecoder();
  const reader = response.body!.getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    const lines = decoder.decode(read.value, { stream: true }).split("\n");
    lines.filter((line) => line.trim() !== "").forEach((line) => void send(line));
  }
  await send({ done: true });
}
