import { createFunctionTypes, type FunctionTypes } from "./language-service.ts";
import type { Answer, Question } from "./protocol.ts";

// One file: what a worker loads later is not let through by the policy of files.
const texts = import.meta.glob<string>(
  [
    "../../../../../docs/functions*.d.ts",
    "../../../../../node_modules/typescript/lib/lib.{es,decorators}*.d.ts",
    "!**/*.full.d.ts",
  ],
  { query: "?raw", import: "default", eager: true, exhaustive: true },
);

let types: FunctionTypes | undefined;

function open(): FunctionTypes {
  const named = Object.entries(texts).map(
    ([path, text]) => [path.slice(path.lastIndexOf("/") + 1), text] as const,
  );
  return (types ??= createFunctionTypes(new Map(named)));
}

addEventListener("message", ({ data }: MessageEvent<Question>) => {
  const answer: Answer =
    data.kind === "check"
      ? { id: data.id, problems: open().check(data.text) }
      : { id: data.id, suggestions: open().complete(data.text, data.offset) };
  postMessage(answer);
});
