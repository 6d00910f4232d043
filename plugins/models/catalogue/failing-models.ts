import { type ModelCall, modelCallEnded } from "#kernel/completion/model-call.ts";
import type { Events } from "#kernel/events.ts";

/** Models whose last call failed: a new chat does not begin with one of them by itself. */
export class FailingModels {
  readonly #failing = new Set<string>();

  constructor(events: Pick<Events, "on">) {
    events.on(modelCallEnded, (call) => this.#follow(call));
  }

  has(modelId: string): boolean {
    return this.#failing.has(modelId);
  }

  /** A call that its caller broke off says nothing about the model. */
  #follow({ modelId, outcome }: ModelCall): void {
    if (outcome === "failed") {
      this.#failing.add(modelId);
    } else if (outcome === "completed") {
      this.#failing.delete(modelId);
    }
  }
}
