import type { CallFacts } from "./call-item.ts";
import { newId, type OutputItem } from "./response.ts";
import type { Tell } from "./text-item.ts";

/**
 * A call of a tool that takes a text instead of arguments. Chat models are offered it as a function with one field, so
 * what they say is known when the call is complete.
 */
export class CustomCallItem {
  readonly item: OutputItem;
  readonly #index: number;
  readonly #tell: Tell;
  #arguments = "";

  constructor(call: CallFacts, index: number, tell: Tell) {
    this.#index = index;
    this.#tell = tell;
    this.item = {
      id: newId("ctc"),
      type: "custom_tool_call",
      status: "in_progress",
      call_id: call.id || newId("call"),
      name: call.name,
      ...(call.namespace !== undefined && { namespace: call.namespace }),
      input: "",
    };
    tell("response.output_item.added", { output_index: index, item: this.item });
  }

  add(delta: string): void {
    this.#arguments += delta;
  }

  close(status: "completed" | "incomplete"): void {
    const input = toInput(this.#arguments);
    const place = { item_id: this.item.id, output_index: this.#index };
    Object.assign(this.item, { input, status });
    if (input !== "") {
      this.#tell("response.custom_tool_call_input.delta", { ...place, delta: input });
    }
    this.#tell("response.custom_tool_call_input.done", { ...place, input });
    this.#tell("response.output_item.done", { output_index: this.#index, item: this.item });
  }
}

/** A model that did not keep to the form meant its words as they are. */
function toInput(text: string): string {
  try {
    const input = (JSON.parse(text) as { input?: unknown } | null)?.input;
    return typeof input === "string" ? input : text;
  } catch {
    return text;
  }
}
