import { mapBatches } from "#kernel/completion/map-batches.ts";
import type { ChunkBatch } from "#kernel/completion/provider.ts";
import type { OpenRun } from "#plugins/completions/service.ts";
import type { RunParts } from "../parts.ts";
import type { RunAgent } from "../service.ts";
import type { RunStart } from "./run-facts.ts";

/** The agent that writes the replies of this chat; undefined for chats of people. */
export async function findAgent(
  { principal, placed, reply, admitted }: RunStart,
  { agents }: RunParts,
  signal: AbortSignal,
): Promise<RunAgent | undefined> {
  const { chat } = placed;
  if (chat === undefined) {
    return undefined;
  }
  const { messageId } = reply;
  const run = { principal, chat, messageId, modelId: admitted.model.id, signal };
  for (const source of agents.list()) {
    const agent = await source.find(run);
    if (agent !== undefined) {
      return agent;
    }
  }
  return undefined;
}

/** Most tool-calling turns of this chat's replies; undefined where the settings alone say it. */
export function findLimit({ placed: { chat } }: RunStart, { limits }: RunParts): number | undefined {
  return (
    chat &&
    limits
      .list()
      .map((limit) => limit.maxIterations(chat))
      .find((most) => most !== undefined)
  );
}

/** The run with a listener for what its model writes. */
export function heardBy(agent: RunAgent, run: OpenRun): OpenRun {
  return {
    ...run,
    async call(messages) {
      return mapBatches(await run.call(messages), {
        next(batch: ChunkBatch) {
          agent.onChunks(batch);
          return batch;
        },
      });
    },
  };
}
