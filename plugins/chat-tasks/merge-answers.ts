import type { Principal } from "#kernel/access/principal.ts";
import { mapBatches } from "#kernel/completion/map-batches.ts";
import type { ChunkBatch } from "#kernel/completion/provider.ts";
import { TextDeltaWriter } from "#plugins/completions/service.ts";
import { reply, stream } from "#kernel/http/route.ts";
import type { Completions } from "#plugins/completions/service.ts";
import { fillTaskTemplate } from "./template.ts";
import { builtIn, toQuoted } from "./templates.ts";

export interface Merging {
  readonly model: string;
  readonly chatId: string | undefined;
  /** The question. */
  readonly prompt: string;
  readonly responses: readonly string[];
  readonly stream: boolean;
  /** Filters that the person switched on. */
  readonly filterIds: readonly string[] | undefined;
}

/**
 * Has the named model make one answer of several. People read it, so it is an ordinary completion of that model, with
 * its filters and parameters, and not one of the task model.
 */
export async function mergeAnswers(
  completions: Completions,
  { model, chatId, prompt, responses, stream: streams, filterIds }: Merging,
  context: { principal: Principal; signal: AbortSignal; userAgent: string | undefined },
) {
  const facts = { messages: [], prompt: toQuoted(prompt), responses: responses.map(toQuoted) };
  const content = fillTaskTemplate(builtIn.moa, facts);
  const messages = [{ role: "user", content }];
  const request = {
    model,
    messages,
    stream: streams,
    chat_id: chatId,
    ...(filterIds && { filter_ids: [...filterIds] }),
  };
  const answer = await completions.run(request, context);
  if (answer.kind !== "whole") {
    return stream(toFrames(answer.chunks()));
  }
  return answer.text === undefined
    ? answer.completion
    : reply(answer.text, { headers: { "content-type": "application/json" } });
}

function toFrames(batches: AsyncIterable<ChunkBatch>): AsyncIterableIterator<string> {
  const writer = new TextDeltaWriter();
  return mapBatches(batches, {
    next: (batch: ChunkBatch) => batch.map((chunk) => `data: ${writer.write(chunk)}\n\n`).join(""),
    end: () => "data: [DONE]\n\n",
  });
}
