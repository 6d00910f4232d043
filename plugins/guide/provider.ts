import { randomUUID } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Chunk, Completion, Delta, Usage } from "#kernel/completion/chunk.ts";
import type {
  ChunkBatch,
  CompletionCall,
  ModelProvider,
  ProviderModel,
} from "#kernel/completion/provider.ts";
import { findQuestion, type GuideAnswer, toAnswer } from "./answer.ts";
import type { Hit } from "./search.ts";

export const guideId = "guide";
export const guideName = "Millrace guide";

/** Sections in one answer. */
const hitCount = 3;

/**
 * A provider with one model that answers from the bundled documentation. It is also the shortest example of a provider:
 * list the models, and answer whole or streamed.
 */
export function createGuide(search: (question: string, limit: number) => Hit[]): ModelProvider {
  const models: readonly ProviderModel[] = [
    {
      id: guideId,
      name: guideName,
      ownedBy: "millrace",
      created: Math.floor(Date.now() / 1000),
      connectionType: "local",
      tags: [{ name: "built-in" }],
      access: "everyone",
      item: {},
    },
  ];
  return {
    id: "guide",
    models: () => models,
    async complete({ request, signal, task }: CompletionCall) {
      const question = findQuestion(request.messages);
      // A background task wants a title or tags, and the documentation holds neither.
      const answer = task === undefined ? toAnswer(search(question, hitCount)) : { text: "", sources: [] };
      const head = { id: `chatcmpl-${randomUUID()}`, created: Math.floor(Date.now() / 1000), model: guideId };
      const usage = toUsage(
        request.messages.map(({ content }) => JSON.stringify(content ?? "")).join(""),
        answer.text,
      );
      if (request.stream !== true) {
        return { kind: "whole", completion: toCompletion(head, answer, usage) };
      }
      const withUsage = request.stream_options?.["include_usage"] === true;
      return {
        kind: "stream",
        stream: {
          raw: undefined,
          chunks: () => toChunks(head, { answer, usage: withUsage ? usage : undefined, signal }),
        },
      };
    },
  };
}

interface Head {
  readonly id: string;
  readonly created: number;
  readonly model: string;
}

function toCompletion(head: Head, { text, sources }: GuideAnswer, usage: Usage): Completion {
  const message = { role: "assistant", content: text };
  return {
    ...head,
    object: "chat.completion",
    choices: [{ index: 0, message, finish_reason: "stop" }],
    usage,
    sources,
  };
}

async function* toChunks(
  head: Head,
  { answer, usage, signal }: { answer: GuideAnswer; usage: Usage | undefined; signal: AbortSignal },
): AsyncGenerator<ChunkBatch> {
  const chunk = (delta: Delta, finish: string | null = null): Chunk => ({
    ...head,
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  yield [{ ...chunk({ role: "assistant", content: "" }), sources: answer.sources }];
  for (const words of answer.text.match(/\s+|\S+\s?/g) ?? []) {
    if (signal.aborted) {
      return;
    }
    yield [chunk({ content: words })];
    // Yields to other requests between two words.
    await nextTurn();
  }
  yield [chunk({}, "stop")];
  if (usage) {
    yield [{ ...head, object: "chat.completion.chunk", choices: [], usage }];
  }
}

/** Counts words instead of tokens: the guide has no tokenizer. */
function toUsage(prompt: string, reply: string): Usage {
  const count = (text: string) => text.match(/\S+/g)?.length ?? 0;
  const [input, output] = [count(prompt), count(reply)];
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
}
