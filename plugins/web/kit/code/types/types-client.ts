import type { CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import type { CodeProblem } from "#plugins/web/kit/code/problems.ts";
import type { Answer, Question } from "./protocol.ts";

type Asked = { readonly kind: "check" } | { readonly kind: "complete"; readonly offset: number };

/** Completion and type errors from a worker, which is loaded when it is first asked. */
export interface TypesClient {
  check(text: string): Promise<readonly CodeProblem[]>;
  complete(context: CompletionContext): Promise<CompletionResult | null>;
  close(): void;
}

/** Opens the client. Where the worker cannot be loaded, nothing is suggested and the server's check remains. */
export function createTypesClient(): TypesClient {
  let worker: Worker | undefined;
  let last = 0;
  const waiting = new Map<number, (answer: Answer) => void>();

  function open(): Worker {
    const opened = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
    opened.addEventListener("message", ({ data }: MessageEvent<Answer>) => {
      waiting.get(data.id)?.(data);
      waiting.delete(data.id);
    });
    opened.addEventListener("error", () => {
      for (const [id, done] of waiting) {
        done({ id });
      }
      waiting.clear();
    });
    return opened;
  }

  function ask(text: string, asked: Asked): Promise<Answer> {
    worker ??= open();
    const id = ++last;
    const answered = new Promise<Answer>((done) => waiting.set(id, done));
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- workers have none
    worker.postMessage({ id, text, ...asked } satisfies Question);
    return answered;
  }

  return {
    check: async (text) => (await ask(text, { kind: "check" })).problems ?? [],
    async complete(context) {
      const word = context.matchBefore(/[\p{L}\p{N}_$]*/u);
      const isMember = context.matchBefore(/\.[\p{L}\p{N}_$]*/u) !== null;
      if (!context.explicit && !isMember && (word === null || word.from === word.to)) {
        return null;
      }
      const { suggestions = [] } = await ask(context.state.doc.toString(), {
        kind: "complete",
        offset: context.pos,
      });
      const options = suggestions.map(({ label, kind }) => ({ label, type: kinds[kind] ?? "variable" }));
      return { from: word?.from ?? context.pos, options, validFor: /^[\p{L}\p{N}_$]*$/u };
    },
    close: () => worker?.terminate(),
  };
}

/** Names of kinds in the language service, and the editor's icons for them. */
const kinds: Readonly<Record<string, string>> = {
  property: "property",
  getter: "property",
  method: "method",
  function: "function",
  keyword: "keyword",
  interface: "interface",
  type: "type",
  class: "class",
  module: "namespace",
  const: "constant",
};
