import { type CallFacts, GrowingCall } from "./call-item.ts";
import type { Tell } from "./text-item.ts";

/**
 * A call of a tool that takes a text instead of arguments. Chat models are offered it as a function with one field, so
 * what they say is known when the call is complete.
 */
export class CustomCallItem extends GrowingCall {
  constructor(call: CallFacts, index: number, tell: Tell) {
    super(call, { index, tell, kind: { id: "ctc", type: "custom_tool_call", field: "input" } });
  }

  add(delta: string): void {
    this.arguments += delta;
  }

  close(status: "completed" | "incomplete"): void {
    const input = toInput(this.arguments);
    Object.assign(this.item, { input, status });
    if (input !== "") {
      this.tell("response.custom_tool_call_input.delta", { ...this.place(), delta: input });
    }
    this.tell("response.custom_tool_call_input.done", { ...this.place(), input });
    this.done();
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
