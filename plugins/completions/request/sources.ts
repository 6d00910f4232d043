import { randomUUID } from "node:crypto";
import type { Chunk } from "#kernel/completion/chunk.ts";
import type { ChunkBatch, CompletionAnswer } from "#kernel/completion/provider.ts";
import type { Message } from "#kernel/completion/request.ts";

/** Something an answer rests on (contract §3.4). */
export interface Source {
  readonly source: {
    /** Sources of one id are one to people and to the model: they share a number. */
    readonly id: string;
    readonly name: string;
    /** `file`, `chat`, `url` or `text`, where it is something that can be opened. */
    readonly type?: string;
    readonly url?: string;
  };
  /** Texts, one for each entry of `metadata`. */
  readonly document: readonly string[];
  readonly metadata: readonly Readonly<Record<string, unknown>>[];
  /** How well each text fits, from 0 to 1, which is best. */
  readonly distances?: readonly number[];
  /** True for what a tool gave back. */
  readonly tool_result?: boolean;
}

/** How sources reach the model. */
export interface SourcePlacement {
  /** RAG_TEMPLATE; the built-in one while it is empty. */
  readonly template: string;
  /** RAG_SYSTEM_CONTEXT: behind the system prompt, where upstreams cache it, instead of around the question. */
  readonly inSystem: boolean;
}

/** The answer with `sources`, if any, at its top level: a key of a whole answer, a first frame of a stream. */
export function withSources(
  answer: CompletionAnswer,
  sources: readonly Source[] | undefined,
  modelId: string,
): CompletionAnswer {
  if (sources === undefined) {
    return answer;
  }
  if (answer.kind === "whole") {
    return { kind: "whole", completion: { ...answer.completion, sources } };
  }
  const { stream } = answer;
  const first = toChunk(sources, modelId);
  async function* chunks(): AsyncGenerator<ChunkBatch> {
    yield [first];
    yield* stream.chunks();
  }
  return { kind: "stream", stream: { raw: undefined, chunks } };
}

/** A chunk like any other, with no choices: clients of the common format read it without harm. */
function toChunk(sources: readonly Source[], model: string): Chunk {
  const id = `chatcmpl-${randomUUID()}`;
  const created = Math.floor(Date.now() / 1000);
  return { id, object: "chat.completion.chunk", created, model, choices: [], sources };
}

/** The words of a message, parts joined. */
export function toText(content: Message["content"]): string {
  if (!Array.isArray(content)) {
    return content ?? "";
  }
  return content
    .map((part) => part["text"])
    .filter((text) => typeof text === "string")
    .join("\n");
}
