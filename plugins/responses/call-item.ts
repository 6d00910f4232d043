import { newId, type OutputItem } from "./response.ts";
import type { EmitEvent } from "./text-item.ts";

/** A call as it begins. */
export interface CallFacts {
  readonly id: string | undefined;
  readonly name: string;
  /** The group that the tool stands in. */
  readonly namespace: string | undefined;
}

/** A call that is streamed in pieces; several may be open at once. */
export abstract class StreamedCall {
  readonly item: OutputItem;
  protected readonly emit: EmitEvent;
  protected arguments = "";
  readonly #index: number;

  /** `kind` has the item's type, the beginning of its id, and the field that is filled at the end. */
  constructor(
    { id, name, namespace }: CallFacts,
    {
      index,
      emit,
      kind,
    }: { index: number; emit: EmitEvent; kind: { id: string; type: string; field: string } },
  ) {
    this.#index = index;
    this.emit = emit;
    this.item = {
      id: newId(kind.id),
      type: kind.type,
      status: "in_progress",
      call_id: id || newId("call"),
      name,
      ...(namespace !== undefined && { namespace }),
      [kind.field]: "",
    };
    emit("response.output_item.added", { output_index: index, item: this.item });
  }

  abstract add(delta: string): void;

  abstract close(status: "completed" | "incomplete"): void;

  protected place() {
    return { item_id: this.item.id, output_index: this.#index };
  }

  protected done(): void {
    this.emit("response.output_item.done", { output_index: this.#index, item: this.item });
  }
}

/** A call of a function, whose arguments are emitted as they arrive. */
export class CallItem extends StreamedCall {
  constructor(call: CallFacts, index: number, emit: EmitEvent) {
    super(call, { index, emit, kind: { id: "fc", type: "function_call", field: "arguments" } });
  }

  add(delta: string): void {
    this.arguments += delta;
    this.emit("response.function_call_arguments.delta", { ...this.place(), delta });
  }

  close(status: "completed" | "incomplete"): void {
    Object.assign(this.item, { arguments: this.arguments, status });
    const { name } = this.item;
    this.emit("response.function_call_arguments.done", { ...this.place(), name, arguments: this.arguments });
    this.done();
  }
}
