import { newId, type OutputItem } from "./response.ts";
import type { Tell } from "./text-item.ts";

/** What is known of a call when it begins. */
export interface CallFacts {
  readonly id: string | undefined;
  readonly name: string;
  /** The group that the tool stands in. */
  readonly namespace: string | undefined;
}

/** A call of a function whose arguments grow piece by piece; several may grow at once. */
export class CallItem {
  readonly item: OutputItem;
  readonly #index: number;
  readonly #tell: Tell;
  #arguments = "";

  constructor(call: CallFacts, index: number, tell: Tell) {
    this.#index = index;
    this.#tell = tell;
    this.item = {
      id: newId("fc"),
      type: "function_call",
      status: "in_progress",
      call_id: call.id || newId("call"),
      name: call.name,
      ...(call.namespace !== undefined && { namespace: call.namespace }),
      arguments: "",
    };
    tell("response.output_item.added", { output_index: index, item: this.item });
  }

  add(delta: string): void {
    this.#arguments += delta;
    this.#tell("response.function_call_arguments.delta", { ...this.#place(), delta });
  }

  close(status: "completed" | "incomplete"): void {
    Object.assign(this.item, { arguments: this.#arguments, status });
    const { name } = this.item;
    this.#tell("response.function_call_arguments.done", {
      ...this.#place(),
      name,
      arguments: this.#arguments,
    });
    this.#tell("response.output_item.done", { output_index: this.#index, item: this.item });
  }

  #place() {
    return { item_id: this.item.id, output_index: this.#index };
  }
}
