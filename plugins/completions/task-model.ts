import { createAccumulator, toMessage } from "#kernel/completion/accumulate.ts";
import type { CompletionMessage } from "#kernel/completion/chunk.ts";
import type { CompletionAnswer } from "#kernel/completion/provider.ts";
import type { CompletionRequest } from "#kernel/completion/request.ts";
import type { Models, ResolvedModel } from "#plugins/models/service.ts";
import { fillRequest, toProviderRequest } from "./parameters.ts";
import type { TaskModel } from "./service.ts";

export interface TaskModelOptions {
  readonly models: Pick<Models, "resolveAsInstance">;
  settings(): {
    /** TASK_MODEL: for chats with local models. */
    readonly taskModel: string;
    /** TASK_MODEL_EXTERNAL: for all others. */
    readonly taskModelExternal: string;
  };
}

/** Chooses the model by where the chat's model runs, and asks it without filters and tools (contract §3.7). */
export function createTaskModel({ models, settings }: TaskModelOptions): TaskModel {
  const choose = async (model: ResolvedModel): Promise<ResolvedModel> => {
    const { taskModel, taskModelExternal } = settings();
    const id = model.base.connectionType === "local" ? taskModel : taskModelExternal;
    return id === "" ? model : ((await models.resolveAsInstance(id)) ?? model);
  };
  return {
    async ask({ name, model: chatModel, isExact, messages, maxTokens, ...context }) {
      const model = isExact ? chatModel : await choose(chatModel);
      const asked: CompletionRequest = { model: model.base.id, messages: [...messages] };
      const filled = toProviderRequest(fillRequest(asked, model.params));
      const answer = await model.provider.complete({
        ...context,
        request: { ...filled, stream: false, max_tokens: filled.max_tokens ?? maxTokens },
        model: model.base,
        named: { id: model.id, meta: model.meta },
        task: name,
      });
      const { content, reasoning_content: reasoning } = await toReply(answer);
      return content || reasoning || "";
    },
  };
}

async function toReply(answer: CompletionAnswer): Promise<CompletionMessage> {
  if (answer.kind === "whole") {
    return toMessage(answer.completion);
  }
  const accumulator = createAccumulator();
  for await (const batch of answer.stream.chunks()) {
    batch.forEach(accumulator.add);
  }
  return accumulator.message();
}
