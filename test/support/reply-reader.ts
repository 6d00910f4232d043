import { setMaxListeners } from "node:events";
import type { PlainClient } from "./sockets.ts";

// Events are of every shape.
// oxlint-disable-next-line typescript/no-explicit-any
type Any = any;

/** Rebuilds one message's reply from its events and notices missed ones, as clients do (contract D.18). */
export class ReplyReader {
  readonly chatId: string;
  readonly messageId: string;
  /** Number of the last event that was taken in. */
  seq = 0;
  /** How often the next event was missing, and how many came again. */
  gaps = 0;
  repeats = 0;
  /** How often missing events, or the whole message, were fetched. */
  resumes = 0;
  snapshots = 0;
  isDone = false;
  error: string | undefined;
  /** Data of the last `done` event, or the last snapshot. */
  last: Any;
  readonly #items = new Map<string, Any>();
  readonly #early = new Map<number, Any>();

  constructor({ chatId, messageId }: { chatId: string; messageId: string }) {
    this.chatId = chatId;
    this.messageId = messageId;
  }

  /** The visible text so far. */
  get text(): string {
    return this.items
      .filter(({ type }) => type === "message")
      .map(({ content }) => content.map((part: Any) => part.text ?? part.refusal).join(""))
      .filter((text: string) => text !== "")
      .join("\n");
  }

  get items(): Any[] {
    return [...this.#items.values()];
  }

  /** Reads every event of a client's from now on; events of other messages pass by. */
  listen(client: PlainClient): void {
    // A client may read many replies.
    setMaxListeners(0, client.socket);
    client.socket.addEventListener("message", ({ data }) => {
      const frame = JSON.parse(String(data));
      if (frame.type === "event" && frame.event === "events") {
        this.apply(frame.data);
      } else if (frame.type === "event" && frame.event === "resync") {
        // Tests look at the text, where a failed fetch leaves a gap.
        this.resume(client).catch(() => {});
      }
    });
  }

  /** Takes in one event; false when one before it is missing. */
  apply(envelope: Any): boolean {
    if (envelope.message_id !== this.messageId || envelope.seq === null) {
      return true;
    }
    if (envelope.seq <= this.seq) {
      this.repeats += 1;
      return true;
    }
    if (envelope.seq > this.seq + 1) {
      this.gaps += this.#early.size === 0 ? 1 : 0;
      this.#early.set(envelope.seq, envelope);
      return false;
    }
    this.#apply(envelope);
    this.#applyEarly();
    return true;
  }

  /** Asks for missed events; resolves to the milliseconds that it took. */
  async resume(client: PlainClient): Promise<number> {
    const started = performance.now();
    const place = { chat_id: this.chatId, message_id: this.messageId, seq: this.seq };
    const answer = await client.emit("chat:resume", place);
    const took = performance.now() - started;
    this.resumes += 1;
    if (answer.error !== undefined) {
      throw new Error(`chat:resume was answered with ${JSON.stringify(answer)}`);
    }
    if (answer.snapshot === undefined) {
      for (const envelope of answer.events.filter((each: Any) => each.seq > this.seq)) {
        this.#apply(envelope);
      }
    } else if (answer.seq >= this.seq || answer.snapshot.done) {
      this.#takeSnapshot(answer);
    }
    this.#applyEarly();
    return took;
  }

  #takeSnapshot({ snapshot, seq }: Any): void {
    this.snapshots += 1;
    this.seq = seq;
    this.#items.clear();
    (snapshot.output ?? []).forEach((item: Any) => this.#items.set(item.id, structuredClone(item)));
    this.isDone = snapshot.done === true;
    this.error = snapshot.error?.content;
    this.last = snapshot;
  }

  #applyEarly(): void {
    for (const seq of [...this.#early.keys()].toSorted((a, b) => a - b)) {
      const envelope = this.#early.get(seq);
      if (seq === this.seq + 1) {
        this.#apply(envelope);
      }
      if (seq <= this.seq) {
        this.#early.delete(seq);
      }
    }
  }

  #apply({ seq, data: { type, data } }: Any): void {
    this.seq = seq;
    if (type === "chat:message:delta") {
      this.#grow(data);
    } else if (type === "chat:message:error") {
      this.error = data.error.content;
    } else if (type === "chat:completion") {
      (data.output ?? []).forEach((item: Any) => this.#items.set(item.id, item));
      if (data.done === true) {
        this.isDone = true;
        this.last = data;
      }
    }
  }

  #grow({ item_id: id, kind, content }: Any): void {
    const item = this.#items.get(id);
    if (item === undefined) {
      throw new Error(`text came for item ${id}, which nobody announced`);
    }
    if (kind === "arguments") {
      item.arguments += content;
      return;
    }
    item.content.at(-1).text += content;
  }
}
