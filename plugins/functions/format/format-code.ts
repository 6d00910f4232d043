import { Worker } from "node:worker_threads";
import { AppError } from "#kernel/errors.ts";
import type { FormatAnswer } from "./format-worker.ts";

const deadlineMs = 10_000;

/**
 * Lays JavaScript or TypeScript out anew; the code does not run. Throws `invalid` for code that cannot be read, with the
 * place, or that takes too long.
 */
export async function formatCode(
  code: string,
  limits: { readonly deadlineMs?: number } = {},
): Promise<string> {
  // Code may be built to keep its reader busy: a thread can be ended. Administrators format seldom, so none is kept.
  const worker = new Worker(new URL("./format-worker.ts", import.meta.url), {
    name: "code format",
    workerData: code,
    execArgv: ["--disable-warning=ExperimentalWarning"],
    resourceLimits: { maxOldGenerationSizeMb: 256 },
  });
  const { promise, resolve } = Promise.withResolvers<FormatAnswer>();
  const tooMuch = { problem: "The code is too long or too tangled." };
  const deadline = setTimeout(() => resolve(tooMuch), limits.deadlineMs ?? deadlineMs);
  worker.on("message", resolve);
  worker.on("error", () => resolve(tooMuch));
  const answer = await promise;
  clearTimeout(deadline);
  await worker.terminate();
  if ("problem" in answer) {
    throw new AppError("invalid", answer.problem);
  }
  return answer.code;
}
