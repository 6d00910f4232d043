import { parentPort, workerData } from "node:worker_threads";
import * as babel from "prettier/plugins/babel";
import * as estree from "prettier/plugins/estree";
import * as typescript from "prettier/plugins/typescript";
import { format } from "prettier/standalone";

/** Code with its layout, or why it could not be read. */
export type FormatAnswer = { readonly code: string } | { readonly problem: string };

const port = parentPort;

async function answer(code: string): Promise<FormatAnswer> {
  try {
    const plugins = [babel, estree, typescript];
    return { code: await format(code, { parser: "typescript", plugins, printWidth: 100 }) };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread has no origin
port?.postMessage(await answer(String(workerData)));
