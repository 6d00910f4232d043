import { newId, type OutputItem } from "./response.ts";
import type { Tell } from "./text-item.ts";

/** What is known of a call when it begins. */
export interface CallFacts {
  readonly id: string | undefined;
  readonly name: string;
  /** The group that the tool stands in. */
  readonly namespace: string | undefined;
}

/** A call that grows piece by piece; several may grow at once. */
export abstract class GrowingCall {
  readonly item: OutputItem;
  protected readonly tell: Tell;
  protected arguments = "";
  readonly #index: number;

  /** `kind` has the item's type, the beginning of its id, and the field that is filled at the end. */
  constructor(
    { id, name, namespace }: CallFacts,
    { index, tell, kind }: { index: number; tell: Tell; kind: { id: string; type: string; field: string } },
  ) {
    this.#index = index;
    this.tell = tell;
    this.item = {
      id: newId(kind.id),
      type: kind.type,
      status: "in_progress",
      call_id: id || newId("call"),
      name,
      ...(namespace !== undefined && { namespace }),
      [kind.field]: "",
    };
    tell("response.output_item.added", { output_index: index, item: this.item });
  }

  abstract add(delta: string): void;

  abstract close(status: "completed" | "incomplete"): void;

  protected place() {
    return { item_id: this.item.id, output_index: this.#index };
  }

  protected done(): void {
    this.tell("response.output_item.done", { output_index: this.#index, item: this.item });
  }
}

/** A call of a function, whose arguments are told as they come. */
export class CallItem extends GrowingCall {
  constructor(call: CallFacts, index: number, tell: Tell) {
    super(call, { index, tell, kind: { id: "fc", type: "function_call", field: "arguments" } });
  }

  add(delta: string): void {
    this.arguments += delta;
    this.tell("response.function_call_arguments.delta", { ...this.place(), delta });
  }

  close(status: "completed" | "incomplete"): void {
    Object.assign(this.item, { arguments: this.arguments, status });
    const { name } = this.item;
    this.tell("response.function_call_arguments.done", { ...this.place(), name, arguments: this.arguments });
    this.done();
  }
}
