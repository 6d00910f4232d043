import { server } from "#plugins/web/kit/server.ts";
import type { RunEnd, RunRequest } from "./run.ts";

/** Runs code on the Jupyter server. Giving it up interrupts the kernel. */
export async function runOnServer({ code, chatId, signal, onprogress }: RunRequest): Promise<RunEnd> {
  onprogress({ phase: undefined, stdout: "", stderr: "" });
  const body = { code, ...(chatId && { chat_id: chatId }) };
  const { files, result, ...rest } = await server.call("POST /api/v1/utils/code/execute", { body, signal });
  return {
    ...rest,
    // Pictures stand among the files as well.
    result: result
      .split("\n")
      .filter((line) => !line.startsWith("data:image/"))
      .join("\n"),
    files: files.map(({ name, content_type: contentType, url }) => ({ name, contentType, url })),
  };
}
