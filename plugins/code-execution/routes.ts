import { z } from "zod";
import { AppError } from "#kernel/errors.ts";
import { defineRoute } from "#kernel/http/route.ts";
import type { ToolFile } from "#kernel/tools/output.ts";
import type { Chats } from "#plugins/chats/service.ts";
import { type CodeSettings, toServer } from "./config.ts";
import type { Jupyter } from "./jupyter/jupyter.ts";
import type { RunResult } from "./run-result.ts";
import { requireServer } from "./tool.ts";

export interface CodeRouteParts {
  readonly settings: CodeSettings;
  readonly jupyter: Jupyter;
  readonly chats: Pick<Chats, "require">;
}

const Form = z.object({
  code: z.string().min(1).max(200_000),
  /** A chat of the caller's, whose variables stay between runs. */
  chat_id: z.string().max(200).nullish(),
});

const Result = z
  .object({
    status: z.enum(["success", "error", "timeout"]),
    stdout: z.string(),
    stderr: z.string(),
    result: z.string(),
    files: z.array(z.object({ name: z.string(), content_type: z.string(), url: z.string() })),
    html: z.array(z.string()),
  })
  .meta({ id: "CodeResult" });

/** Running code on the Jupyter server (contract 10). */
export function codeRoutes({ settings, jupyter, chats }: CodeRouteParts) {
  return [
    defineRoute(
      {
        method: "POST",
        path: "/utils/code/execute",
        summary: "Run Python on the Jupyter server",
        access: "user",
        body: Form,
        returns: Result,
        fails: [400, 404, 502, 503, 504],
      },
      async ({ caller, body: { code, chat_id: chatId }, request: { signal } }) => {
        if (settings.engine !== "jupyter") {
          throw new AppError("invalid", "Code runs in browsers here: the engine is not Jupyter.");
        }
        const server = requireServer(toServer(settings, "blocks"));
        const place = chatId
          ? { userId: caller.userId, chatId: (await chats.require(caller, chatId)).id }
          : undefined;
        const timeoutMs = settings.timeout * 1000;
        return toAnswer(await jupyter.run({ server, code, place, timeoutMs, signal }));
      },
    ),
  ];
}

/** Clients of the ecosystem find pictures in `result`, a data address a line. */
function toAnswer({ files, result, ...rest }: RunResult) {
  const listed = files.map((file) => ({
    name: file.name,
    content_type: file.contentType,
    url: toDataUrl(file),
  }));
  const pictures = listed.filter(({ content_type: type }) => type === "image/png").map(({ url }) => url);
  return { ...rest, files: listed, result: [result, ...pictures].filter((line) => line !== "").join("\n") };
}

const toDataUrl = ({ contentType, bytes }: ToolFile) =>
  `data:${contentType};base64,${Buffer.from(bytes).toString("base64")}`;
