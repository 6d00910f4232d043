import { randomUUID } from "node:crypto";

/** A message of a kernel, as far as runs need it. */
export interface KernelMessage {
  readonly type: string;
  /** Id of the request that it belongs to; undefined when it belongs to none. */
  readonly parentId: string | undefined;
  readonly content: Readonly<Record<string, unknown>>;
}

/** A message for a kernel, and its id. */
export interface KernelRequest {
  readonly id: string;
  readonly text: string;
}

/** The request that runs code. */
export function toExecuteRequest(code: string, session: string): KernelRequest {
  return toRequest(session, "shell", "execute_request", {
    code,
    silent: false,
    store_history: true,
    user_expressions: {},
    // Nobody sits at the other end: `input()` fails at once.
    allow_stdin: false,
    stop_on_error: true,
  });
}

/** Asks a kernel who it is, which one answers also while it runs something. */
export function toInfoRequest(session: string): KernelRequest {
  return toRequest(session, "control", "kernel_info_request", {});
}

function toRequest(session: string, channel: string, type: string, content: object): KernelRequest {
  const id = randomUUID();
  const header = {
    msg_id: id,
    msg_type: type,
    session,
    username: "",
    version: "5.3",
    date: new Date().toISOString(),
  };
  const text = JSON.stringify({ channel, header, parent_header: {}, metadata: {}, content, buffers: [] });
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
