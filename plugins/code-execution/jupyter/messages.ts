import { randomUUID } from "node:crypto";

/** A message of a kernel, as far as runs need it. */
export interface KernelMessage {
  readonly type: string;
  /** Id of the request that it belongs to; undefined when it belongs to none. */
  readonly parentId: string | undefined;
  readonly content: Readonly<Record<string, unknown>>;
}

/** The request that runs code, and its id. */
export function toExecuteRequest(code: string, session: string): { id: string; text: string } {
  const id = randomUUID();
  const text = JSON.stringify({
    channel: "shell",
    header: {
      msg_id: id,
      msg_type: "execute_request",
      session,
      username: "",
      version: "5.3",
      date: new Date().toISOString(),
    },
    parent_header: {},
    metadata: {},
    content: {
      code,
      silent: false,
      store_history: true,
      user_expressions: {},
      // Nobody sits at the other end: `input()` fails at once.
      allow_stdin: false,
      stop_on_error: true,
    },
    buffers: [],
  });
  return { id, text };
}

/** Reads a message; undefined for what is none. */
export function parseKernelMessage(data: unknown): KernelMessage | undefined {
  if (typeof data !== "string") {
    return undefined;
  }
  try {
    const { header, parent_header: parent, content } = JSON.parse(data) as Record<string, Bag | undefined>;
    const type = header?.["msg_type"];
    const parentId = parent?.["msg_id"];
    return typeof type === "string"
      ? { type, parentId: typeof parentId === "string" ? parentId : undefined, content: content ?? {} }
      : undefined;
  } catch {
    return undefined;
  }
}

type Bag = Record<string, unknown>;
