import type { CompletionCall, ModelProvider } from "#kernel/completion/provider.ts";
import { AppError, type ErrorCode } from "#kernel/errors.ts";
import { toMetadata } from "#plugins/completions/service.ts";
import { type Json, SandboxError } from "#kernel/sandbox.ts";
import type { Invoke } from "./invoke.ts";
import { createHead, toChunks, toCompletion } from "#plugins/completions/service.ts";
import type { PipeModel, PipeModels } from "./pipe-models.ts";
import { toModel } from "./call-context.ts";

/** Offers pipe functions as models (contract 4.2: pipe). */
export function createPipeProvider({
  models,
  invoke,
}: {
  readonly models: PipeModels;
  readonly invoke: Invoke;
}): ModelProvider {
  return {
    id: "functions",
    models: (options) => models.list(options),
    async complete(call) {
      const pipe = await models.find(call.model.id);
      if (pipe === undefined) {
        throw new AppError("not_found", "Model not found");
      }
      const items = withTypedErrors(open(invoke, pipe, call));
      const head = createHead(call.model.id);
      if (call.request.stream !== true) {
        return { kind: "whole", completion: await toCompletion(items, head) };
      }
      // A failure before the first item is an answer with a status; a later one can only be a frame.
      const chunks = await begin(toChunks(items, head));
      return { kind: "stream", stream: { raw: undefined, chunks: () => chunks } };
    },
  };
}

/** Calls the pipe with the request, without what is for the platform alone. */
function open(invoke: Invoke, { fn, sub }: PipeModel, call: CompletionCall) {
  const { metadata: _notes, ...body } = call.request;
  const { asked = call.request, named } = call;
  return invoke.iterate(fn, {
    name: "pipe",
    body,
    facts: {
      principal: call.principal,
      model: toModel(named?.id ?? call.model.id, named?.meta ?? call.model.item),
      metadata: () => toMetadata(asked, call),
      chatId: call.chatId,
      messageId: call.messageId,
      sessionId: call.sessionId,
      files: asked.files,
      features: asked.features,
      task: call.task,
      id: sub ?? fn.id,
    },
    signal: call.signal,
  });
}

/** Waits for the first item, so that an early failure is told before anything is written. */
async function begin<T>(items: AsyncIterable<T>): Promise<AsyncIterable<T>> {
  const iterator = items[Symbol.asyncIterator]();
  const first = await iterator.next();
  return {
    async *[Symbol.asyncIterator]() {
      try {
        for (let next = first; !next.done; next = await iterator.next()) {
          yield next.value;
        }
      } finally {
        await iterator.return?.();
      }
    },
  };
}

const codes: Partial<Record<SandboxError["kind"], ErrorCode>> = { timeout: "timeout" };

async function* withTypedErrors(
  items: AsyncIterable<Json | undefined>,
): AsyncGenerator<Json | undefined, void, undefined> {
  try {
    yield* items;
  } catch (error) {
    throw error instanceof SandboxError
      ? new AppError(codes[error.kind] ?? "upstream", error.message, { cause: error })
      : error;
  }
}
