import type { Api } from "#plugins/catalogue.ts";
import { server } from "#plugins/web/kit/server.ts";
import type { EventEnvelope } from "#plugins/web/kit/stores/socket.svelte.ts";
import { socket } from "#plugins/web/kit/stores/socket.svelte.ts";
import type { RunFile } from "./run.ts";
import { runInBrowser } from "./run-in-browser.ts";

interface Call {
  readonly code: string;
  readonly session_id?: string;
  readonly timeout?: number;
  readonly files?: readonly { readonly id: string; readonly name: string }[];
}

/** Runs what a model asks this browser to run (contract §3.4, `execute:python`). */
export async function answer(envelope: EventEnvelope): Promise<unknown> {
  const call = (envelope.data.data ?? {}) as Call;
  if (call.session_id !== undefined && call.session_id !== socket.id) {
    // Another tab is meant.
    return undefined;
  }
  const stop = new AbortController();
  const leave = socket.on<EventEnvelope>("events", (event) => {
    if (event.message_id === envelope.message_id && isOver(event)) {
      stop.abort();
    }
  });
  try {
    const files = await Promise.all((call.files ?? []).map(readFile));
    const { stdout, stderr, result, status, html, ...end } = await runInBrowser({
      code: String(call.code),
      chatId: envelope.chat_id ?? undefined,
      files: files.filter((file) => file !== undefined),
      timeoutMs: (call.timeout ?? 60) * 1000,
      signal: stop.signal,
      onprogress: () => undefined,
    });
    const note = end.missing === undefined ? "" : `${missingNote(end.missing)}\n`;
    return {
      status: status === "stopped" ? "error" : status,
      stdout,
      stderr: stderr + note,
      result,
      html,
      files: await uploadAll(end.files),
    };
  } catch (error) {
    return { error: (error as Error).message };
  } finally {
    leave();
  }
}

/** The reply was stopped or has failed: what its code gives is read by nobody. */
function isOver({ data: { type, data } }: EventEnvelope): boolean {
  const isDone = type === "chat:completion" && (data as { done?: unknown } | undefined)?.done === true;
  return isDone || type === "chat:tasks:cancel" || type === "chat:message:error";
}

/** For the model, which is to know the way out. */
const missingNote = (name: string) =>
  `The package "${name}" is not available here: use the standard library. An administrator can offer more packages.`;

async function readFile({ id, name }: { id: string; name: string }) {
  // oxlint-disable-next-line eslint/no-restricted-globals -- the client reads JSON alone
  const response = await fetch(`/api/v1/files/${encodeURIComponent(id)}/content`);
  return response.ok
    ? { name: toFileName(name), bytes: new Uint8Array(await response.arrayBuffer()) }
    : undefined;
}

const toFileName = (name: string) => name.split(/[/\\]/).at(-1)?.replace(/^\.+/, "") || "file";

/** Answers are short; bytes go the way of every upload. */
async function uploadAll(files: readonly RunFile[]): Promise<{ id: string }[]> {
  const stored = await Promise.all(files.map(upload));
  return stored.filter((one) => one !== undefined);
}

async function upload({ name, contentType, bytes }: RunFile): Promise<{ id: string } | undefined> {
  const body = new FormData();
  body.append(
    "file",
    new File([(bytes ?? new Uint8Array()) as Uint8Array<ArrayBuffer>], name, { type: contentType }),
  );
  body.append("metadata", JSON.stringify({ code_output: true }));
  try {
    const { id } = (await server.call("POST /api/v1/files/", {
      query: { process: "false" },
      body,
    } as never)) as Api["POST /api/v1/files/"]["answer"];
    return { id };
  } catch {
    return undefined;
  }
}
