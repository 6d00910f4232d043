import { CodeReader, type CodePiece, toPlainCode } from "./code-reader.ts";
import { type CodeItem, codeType, makeItemId } from "./items.ts";

/** Told what becomes of a text that may hold code. */
export interface CodeListener {
  text(text: string): void;
  /** The item is new. */
  begun(item: CodeItem): void;
  grown(item: CodeItem, text: string): void;
  /** The item is complete. */
  ended(item: CodeItem): void;
}

/** Makes an item of the code that a model writes into its text; what follows it in the round is dropped. */
export class CodeWriter {
  readonly #listener: CodeListener;
  #reader = new CodeReader();
  #item: CodeItem | undefined;

  constructor(listener: CodeListener) {
    this.#listener = listener;
  }

  /** True while code is written: blank text belongs to it. */
  get isOpen(): boolean {
    return this.#item?.status === "in_progress";
  }

  /** True when the code of the round is complete, so that the model need not be heard any more. */
  get isDone(): boolean {
    return this.#item?.status === "completed";
  }

  add(text: string): void {
    this.#reader.push(text).forEach((piece) => this.#take(piece));
  }

  /** The text has ended. Code that its upstream cut off is incomplete; where only the closing tag is missing, it is whole. */
  endText(finishReason: string | undefined): void {
    this.#reader.end().forEach((piece) => this.#take(piece));
    this.#reader = new CodeReader();
    this.#end(finishReason === "length" ? "incomplete" : "completed");
  }

  /** The code of the round that is to run, once. */
  takeItem(): CodeItem | undefined {
    const item = this.#item;
    this.#item = undefined;
    return item?.status === "completed" && item.code !== "" ? item : undefined;
  }

  #take(piece: CodePiece): void {
    if (this.isDone) {
      return;
    }
    if (piece.kind === "open") {
      this.#begin(piece.lang);
    } else if (piece.kind === "close") {
      this.#end("completed");
    } else if (piece.kind === "text") {
      this.#listener.text(piece.text);
    } else if (this.#item) {
      this.#item.code += piece.text;
      this.#listener.grown(this.#item, piece.text);
    }
  }

  #begin(lang: string): void {
    const attributes = { type: "code", lang } as const;
    this.#item = {
      type: codeType,
      id: makeItemId("ci"),
      status: "in_progress",
      lang,
      code: "",
      attributes,
    };
    this.#listener.begun(this.#item);
  }

  #end(status: "completed" | "incomplete"): void {
    if (this.#item && this.isOpen) {
      this.#item.status = status;
      this.#item.code = toPlainCode(this.#item.code);
      this.#listener.ended(this.#item);
    }
  }
}
