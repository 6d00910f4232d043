import { type ModelCall, OpenCall } from "#kernel/completion/model-call.ts";
import type { AudioEngine } from "./service.ts";

export interface AudioCallFacts {
  readonly userId: string;
  readonly engine: Pick<AudioEngine, "id">;
  readonly model: string;
  /** The text that is spoken; what engines hear has no tokens. */
  readonly asked: string;
  readonly task: string | undefined;
  readonly signal: AbortSignal;
}

/** Opens a measured call of an engine, so that speech and transcription stand in the usage beside all other models. */
export function beginAudioCall(facts: AudioCallFacts, ended: (call: ModelCall) => void): OpenCall {
  const { userId, engine, model, asked, task, signal } = facts;
  const modelId = model === "" ? engine.id : model;
  return new OpenCall({
    facts: {
      userId,
      modelId,
      baseModelId: modelId,
      provider: `audio.${engine.id}`,
      connection: undefined,
      wire: "generate",
      task,
      chatId: undefined,
      messageId: undefined,
    },
    asked,
    signal,
    ended,
  });
}
