import { z } from "zod";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { toEnvelope } from "#kernel/sockets/envelope.ts";
import type { Hub } from "#kernel/sockets/hub.ts";
import { toToolOutput, type ToolFile } from "#kernel/tools/output.ts";
import type { FileRecord } from "#plugins/files/service.ts";
import { cut, type RunResult } from "./run-result.ts";

/** Code for the browser of a person. */
export interface BrowserRun {
  readonly principal: Principal;
  readonly sessionId: string;
  readonly chatId: string | undefined;
  readonly messageId: string | undefined;
  readonly callId: string;
  readonly code: string;
  readonly files: readonly FileRecord[];
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** The answer of a client; those of the ecosystem know the first three keys, and write null for what there is none of. */
const Answer = z.object({
  stdout: z.string().nullish(),
  stderr: z.string().nullish(),
  result: z.unknown(),
  status: z.enum(["success", "error", "timeout"]).nullish(),
  /** Uploaded by the client. */
  files: z
    .array(z.object({ id: z.string().max(100) }))
    .max(50)
    .nullish(),
  html: z.array(z.string()).max(50).nullish(),
});

const Refusal = z.object({ error: z.string() });

/** Time for a client to load Python. */
const loadMs = 120_000;

/**
 * Runs code in the browser whose session a reply belongs to (contract §3.4, `execute:python`). The hub refuses a session
 * that is not the person's: promise S59.
 */
export async function runInBrowser(
  hub: Pick<Hub, "ask">,
  take: (ids: readonly string[]) => Promise<readonly ToolFile[]>,
  run: BrowserRun,
): Promise<RunResult> {
  const { principal, sessionId, chatId, messageId, callId, code, timeoutMs, signal } = run;
  const files = run.files.map(({ id, filename, meta }) => ({
    id,
    name: filename,
    content_type: meta["content_type"],
    url: `/api/v1/files/${id}/content`,
  }));
  const data = { id: callId, code, session_id: sessionId, files, timeout: timeoutMs / 1000 };
  const payload = toEnvelope({ type: "execute:python", data }, { chatId, messageId });
  const question = { userId: principal.userId, sessionId, event: "events", payload };
  const answer = await hub.ask(question, { signal, timeoutMs: timeoutMs + loadMs }).catch(toReason);
  const refused = Refusal.safeParse(answer);
  if (refused.success) {
    throw new AppError("unavailable", cut(refused.data.error, 2_000));
  }
  const parsed = Answer.safeParse(answer);
  if (!parsed.success) {
    throw new AppError("upstream", "The browser's answer could not be understood.", { cause: parsed.error });
  }
  const { stdout, stderr, result, status, html } = parsed.data;
  const printed = takePictures(stdout ?? "");
  const shown = takePictures(
    typeof result === "string" ? result : (JSON.stringify(result ?? undefined) ?? ""),
  );
  const written = await take((parsed.data.files ?? []).map(({ id }) => id));
  return {
    status: status ?? (stderr ? "error" : "success"),
    stdout: cut(printed.text),
    stderr: cut(stderr ?? ""),
    result: cut(shown.text),
    files: [...printed.files, ...shown.files, ...written],
    html: html ?? [],
  };
}

function toReason(error: unknown): never {
  if (error instanceof AppError && error.code === "unavailable") {
    throw new AppError(
      "unavailable",
      "Python runs in the user's browser here, and the browser that this reply belongs to is not connected. " +
        "Tell the user to keep the chat open and to ask again; a Jupyter server would run it without a browser.",
      { cause: error },
    );
  }
  if (error instanceof AppError && error.code === "timeout") {
    throw new AppError("timeout", "The user's browser did not finish the code in time.", { cause: error });
  }
  throw error;
}

/** Plots that clients print as data addresses, a line each, become pictures. */
function takePictures(text: string): { text: string; files: ToolFile[] } {
  if (!text.includes("data:image/")) {
    return { text, files: [] };
  }
  const files: ToolFile[] = [];
  const lines = text.split("\n").filter((line) => {
    const found = toToolOutput(line.trim()).files;
    files.push(...found);
    return found.length === 0;
  });
  return { text: lines.join("\n"), files };
}
