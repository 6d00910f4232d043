import { randomUUID } from "node:crypto";
import { createAccumulator, toMessage } from "#kernel/completion/accumulate.ts";
import type { CompletionMessage } from "#kernel/completion/chunk.ts";
import type { CompletionAnswer } from "#kernel/completion/provider.ts";
import type { CompletionRequest } from "#kernel/completion/request.ts";
import type { Filter, FilterContext } from "#kernel/pipeline/filter.ts";
import type { Models, ResolvedModel } from "#plugins/models/service.ts";
import type { Pipeline } from "../pipeline/pipeline.ts";
import { toModelIds } from "../request/model-ids.ts";
import { runOutlet } from "../reply/outlet.ts";
import { fillRequest, toProviderRequest } from "../request/parameters.ts";
import type { Task, TaskModel } from "../service.ts";

export interface TaskModelOptions {
  readonly models: Pick<Models, "resolveAsInstance">;
  readonly pipeline: Pipeline;
  settings(): {
    /** TASK_MODEL: for chats with local models. */
    readonly taskModel: string;
    /** TASK_MODEL_EXTERNAL: for all others. */
    readonly taskModelExternal: string;
  };
}

/**
 * Chooses the model by where the chat's model runs, and asks it without tools (contract §3.7). Only filters that look
 * at tasks see what is asked and answered: what they keep from models in a chat must not leave in its title.
 */
export function createTaskModel({ models, pipeline, settings }: TaskModelOptions): TaskModel {
  const choose = async (model: ResolvedModel): Promise<ResolvedModel> => {
    const { taskModel, taskModelExternal } = settings();
    const id = model.base.connectionType === "local" ? taskModel : taskModelExternal;
    return id === "" ? model : ((await models.resolveAsInstance(id)) ?? model);
  };
  return {
    async ask(task) {
      const { name, chatId, messageId, principal, signal } = task;
      const model = task.model.isDirect ? task.model : (task.asked ?? (await choose(task.model)));
      const asked = toRequest(task, model);
      const context: FilterContext = {
        principal,
        modelId: model.id,
        modelMeta: model.meta,
        chatId,
        messageId,
        sessionId: undefined,
        metadata: {},
        request: asked,
        signal,
        task: name,
      };
      const filters = await chooseFilters(pipeline, task, model);
      const filtered = await pipeline.inlet(filters, asked, context);
      const answer = await model.provider.complete({
        principal,
        chatId,
        messageId,
        signal,
        request: { ...toProviderRequest(filtered), model: model.base.id },
        model: model.base,
        named: { id: model.id, meta: model.meta },
        task: name,
      });
      const reply = await toReply(answer);
      const text = reply.content || reply.reasoning_content || "";
      const outlets = filters.filter(({ outlet }) => outlet !== undefined);
      if (outlets.length === 0) {
        return text;
      }
      const { messages } = await runOutlet(pipeline, {
        filters: outlets,
        context: { ...context, metadata: filtered.metadata ?? {}, request: filtered },
        sent: asked,
        reply: { ...reply, content: text },
        usage: undefined,
        replyId: randomUUID(),
      });
      const last = messages.at(-1)?.content;
      return typeof last === "string" ? last : text;
    },
  };
}

function toRequest({ messages, maxTokens, filterIds }: Task, model: ResolvedModel): CompletionRequest {
  const asked: CompletionRequest = { model: model.id, messages: [...messages] };
  const filled = fillRequest(asked, model.params);
  return {
    ...filled,
    stream: false,
    max_tokens: filled.max_tokens ?? maxTokens,
    ...(filterIds && { filter_ids: [...filterIds] }),
  };
}

/** Those of the chat's model, whose conversation it is, and those of the model that is asked. */
function chooseFilters(
  pipeline: Pipeline,
  { model: chatModel, name, principal, filterIds = [] }: Task,
  model: ResolvedModel,
): Promise<readonly Filter[]> | readonly Filter[] {
  const own = [chatModel, model].flatMap(({ meta }) => meta["filterIds"] ?? []);
  return pipeline.choose({
    principal,
    modelId: model.id,
    modelIds: [...new Set([...toModelIds(chatModel), ...toModelIds(model)])],
    modelMeta: { ...model.meta, filterIds: own },
    filterIds,
    task: name,
  });
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
