import type { Ended, FromPython } from "#plugins/web/kit/frames/python-messages.ts";
import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { session } from "#plugins/web/kit/stores/session.svelte.ts";
import { openPythonFrame, type PythonFrame } from "./python-frame.ts";
import type { RunEnd, RunFile, RunProgress, RunRequest } from "./run.ts";

/** The one Python of this tab, with the chat whose variables it has. */
let current: { readonly chatId: string | undefined; readonly frame: PythonFrame } | undefined;
let queue: Promise<unknown> = Promise.resolve();
let lastId = 0;

interface CodeConfig {
  readonly code?: { readonly memory?: number; readonly pyodide?: string };
}

/** Runs code in this browser, after what runs already. Rejects when Python cannot be loaded. */
export function runInBrowser(request: RunRequest): Promise<RunEnd> {
  const turn = queue.then(
    () => run(request),
    () => run(request),
  );
  queue = turn.catch(() => undefined);
  return turn;
}

function open(chatId: string | undefined): PythonFrame {
  if (current === undefined || current.chatId !== chatId) {
    close();
    const { memory = 1024, pyodide = "" } = (session.config as CodeConfig | undefined)?.code ?? {};
    current = { chatId, frame: openPythonFrame({ base: `${location.origin}/pyodide/${pyodide}/`, memory }) };
  }
  return current.frame;
}

function close(): void {
  current?.frame.close();
  current = undefined;
}

async function run({ code, chatId, files = [], timeoutMs, signal, onprogress }: RunRequest): Promise<RunEnd> {
  if (signal.aborted) {
    return toStopped("stopped", { stdout: "", stderr: "" });
  }
  onprogress({ phase: "loading", stdout: "", stderr: "" });
  const frame = open(chatId);
  try {
    await Promise.race([frame.ready, untilAborted(signal)]);
  } catch (error) {
    close();
    throw error;
  }
  if (signal.aborted) {
    close();
    return toStopped("stopped", { stdout: "", stderr: "" });
  }
  lastId += 1;
  const watch = follow(frame, lastId, { timeoutMs, signal, onprogress });
  frame.send({ type: "run", id: lastId, code, files });
  const end = await watch;
  if (end.status === "timeout" || end.status === "stopped") {
    close();
  }
  return end;
}

type Watch = Pick<RunRequest, "timeoutMs" | "signal" | "onprogress">;

/** Follows one run to its end, or to its limit: the time counts from where the code itself begins. */
function follow(frame: PythonFrame, id: number, { timeoutMs, signal, onprogress }: Watch): Promise<RunEnd> {
  return new Promise((resolve) => {
    let texts = { stdout: "", stderr: "" };
    let phase: RunProgress["phase"] = "packages";
    let timer = setTimeout(() => end(toStopped("timeout", texts, timeoutMs)), timeoutMs + packagesMs);
    const leave = frame.listen(receive);
    const abort = () => end(toStopped("stopped", texts));
    signal.addEventListener("abort", abort, { once: true });

    function end(result: RunEnd): void {
      clearTimeout(timer);
      leave();
      signal.removeEventListener("abort", abort);
      resolve(result);
    }
    function receive(message: FromPython): void {
      if (message.type === "output") {
        texts = { ...texts, [message.name]: texts[message.name] + message.text };
      } else if (message.type === "started" && message.id === id) {
        phase = undefined;
        clearTimeout(timer);
        timer = setTimeout(() => end(toStopped("timeout", texts, timeoutMs)), timeoutMs);
      } else if (message.type === "broken") {
        end({ ...toStopped("stopped", texts), status: "error", stderr: join(texts.stderr, message.message) });
        return;
      } else if (message.type === "done" && message.id === id) {
        end(toEnd(message, texts));
        return;
      }
      onprogress({ phase, ...texts });
    }
  });
}

/** Time for packages that the code imports. */
const packagesMs = 120_000;

function toEnd(ended: Ended, { stdout, stderr }: { stdout: string; stderr: string }): RunEnd {
  const { status, result, html, missing } = ended;
  const problems = status === "error" ? ended.problems : [];
  return {
    status,
    stdout,
    stderr: join(stderr, problems.join("\n")),
    result,
    html,
    files: ended.files.map(toRunFile),
    missing: missing ?? undefined,
  };
}

function toRunFile({ name, contentType, bytes }: Ended["files"][number]): RunFile {
  const blob = new Blob([bytes as Uint8Array<ArrayBuffer>], { type: contentType });
  return { name, contentType, bytes, url: URL.createObjectURL(blob) };
}

function toStopped(
  status: "timeout" | "stopped",
  { stdout, stderr }: { stdout: string; stderr: string },
  timeoutMs = 0,
): RunEnd {
  const note =
    status === "timeout"
      ? t("The code ran longer than {count} seconds and was stopped. Its variables are gone.", {
          count: Math.round(timeoutMs / 1000),
        })
      : t("The code was stopped. Its variables are gone.");
  return { status, stdout, stderr: join(stderr, note), result: "", html: [], files: [] };
}

const join = (text: string, more: string) =>
  more === "" ? text : `${text}${text === "" || text.endsWith("\n") ? "" : "\n"}${more}\n`;

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
