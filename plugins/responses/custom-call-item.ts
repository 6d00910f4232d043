import { type CallFacts, StreamedCall } from "./call-item.ts";
import type { EmitEvent } from "./text-item.ts";

/**
 * A call of a tool that takes a text instead of arguments. Chat models see it as a function with one field, so its text
 * is known when the call is complete.
 */
export class CustomCallItem extends StreamedCall {
  constructor(call: CallFacts, index: number, emit: EmitEvent) {
    super(call, { index, emit, kind: { id: "ctc", type: "custom_tool_call", field: "input" } });
  }

  add(delta: string): void {
    this.arguments += delta;
  }

  close(status: "completed" | "incomplete"): void {
    const input = toInput(this.arguments);
    Object.assign(this.item, { input, status });
    if (input !== "") {
      this.emit("response.custom_tool_call_input.delta", { ...this.place(), delta: input });
    }
    this.emit("response.custom_tool_call_input.done", { ...this.place(), input });
    this.done();
  }
}

/** The field `input` of the arguments, or all of them where the model did not write that object. */
function toInput(text: string): string {
  try {
    const input = (JSON.parse(text) as { input?: unknown } | null)?.input;
    return typeof input === "string" ? input : text;
  } catch {
    return text;
  }
}
