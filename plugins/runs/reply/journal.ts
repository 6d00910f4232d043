import { type EventEnvelope, toEnvelope } from "#kernel/sockets/envelope.ts";
import type { Hub } from "#kernel/sockets/hub.ts";
import { toRoom } from "#kernel/sockets/rooms.ts";

/** What a delta adds to (contract D.18). */
export type DeltaKind = "text" | "reasoning" | "arguments" | "code";

export interface JournalPlace {
  readonly userId: string;
  readonly chatId: string;
  readonly messageId: string;
  /** Number of the message's last event. */
  readonly seq: number;
}

/** Deltas of one message wait at most this long for more of their kind. */
const joinMs = 50;
/** Events kept for clients that missed some; clients that missed more get the whole message. */
const keptEvents = 2_000;
const keptChars = 256 * 1024;

interface Kept {
  readonly seq: number;
  readonly envelope: EventEnvelope;
  readonly size: number;
}

/** The events of one message, numbered from 1 without a gap through all its runs (contract D.18, architecture.md §10). */
export class Journal {
  readonly #hub: Hub;
  readonly #place: JournalPlace;
  readonly #room: string;
  readonly #kept: Kept[] = [];
  #keptChars = 0;
  #seq: number;
  #pending: { itemId: string; kind: DeltaKind; content: string } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #sentAt = 0;

  constructor(hub: Hub, place: JournalPlace) {
    this.#hub = hub;
    this.#place = place;
    this.#room = toRoom("user", place.userId);
    this.#seq = place.seq;
  }

  /** Number of the last event; text that waits to be sent is not in it. */
  get seq(): number {
    return this.#seq;
  }

  /** Characters, about, of the events that are kept. */
  get size(): number {
    return this.#keptChars;
  }

  /** Adds text; the first goes out at once, later text is joined. */
  delta(itemId: string, kind: DeltaKind, content: string): void {
    const pending = this.#pending;
    if (pending?.itemId === itemId && pending.kind === kind) {
      pending.content += content;
      return;
    }
    this.flush();
    this.#pending = { itemId, kind, content };
    if (Date.now() - this.#sentAt >= joinMs) {
      this.flush();
    } else {
      this.#timer = setTimeout(() => this.flush(), joinMs);
    }
  }

  /** Sends an event after the text that came before it. */
  emit(type: string, data: unknown): void {
    this.flush();
    this.#send(type, data);
  }

  /** Sends the text that waits. */
  flush(): void {
    clearTimeout(this.#timer);
    const pending = this.#pending;
    if (pending !== undefined) {
      this.#pending = undefined;
      this.#sentAt = Date.now();
      const { itemId, kind, content } = pending;
      this.#send("chat:message:delta", { item_id: itemId, kind, content });
    }
  }

  /** The events after `seq`, or undefined when some of them are not kept any more. */
  since(seq: number): EventEnvelope[] | undefined {
    this.flush();
    if (seq === this.#seq) {
      return [];
    }
    const first = this.#kept[0];
    return first === undefined || seq > this.#seq || seq + 1 < first.seq
      ? undefined
      : this.#kept.slice(seq + 1 - first.seq).map(({ envelope }) => envelope);
  }

  #send(type: string, data: unknown): void {
    this.#seq += 1;
    const { chatId, messageId } = this.#place;
    const envelope = toEnvelope({ type, data }, { chatId, messageId, seq: this.#seq });
    this.#keep(envelope, lengthOf(data));
    this.#hub.emit(this.#room, "events", envelope);
  }

  #keep(envelope: EventEnvelope, length: number): void {
    const size = length + 200;
    this.#kept.push({ seq: this.#seq, envelope, size });
    this.#keptChars += size;
    while (this.#kept.length > keptEvents || (this.#keptChars > keptChars && this.#kept.length > 1)) {
      this.#keptChars -= this.#kept.shift()?.size ?? 0;
    }
  }
}

/** Characters of all texts in an event's data: results of tools and what they show may be large. */
function lengthOf(value: unknown): number {
  if (typeof value === "string") {
    return value.length;
  }
  if (typeof value !== "object" || value === null) {
    return 0;
  }
  let length = 0;
  for (const part of Object.values(value)) {
    length += lengthOf(part);
  }
  return length;
}
