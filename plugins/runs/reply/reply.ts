import { toContent } from "#kernel/completion/reply-text.ts";
import type { Chunk, Usage } from "#kernel/completion/chunk.ts";
import type { Checkpoint, ReplyListKey, ReplyState } from "#plugins/chats/service.ts";
import type { Growing } from "./checkpoints.ts";
import { type OutputItem, toShown } from "./items.ts";
import { OutputDiff } from "./output-diff.ts";
import type { Journal } from "./journal.ts";
import { Output } from "./output.ts";
import { createReplyLists, type TakenLists } from "./reply-lists.ts";
import type { Tags } from "#kernel/completion/reasoning-tags.ts";
import { createUsageTotal, type UsageTotal } from "./usage.ts";

export interface ReplyOptions {
  readonly runId: string;
  readonly chatId: string;
  readonly messageId: string;
  readonly journal: Journal;
  readonly tags: readonly Tags[];
  /** Where an interrupted reply goes on. */
  readonly before?: { readonly items: OutputItem[]; readonly usage: Usage | undefined } | undefined;
  /** Called at every border of an item, and when the message is not the run's any more. */
  writeNow(): void;
  lost(): void;
}

interface Stored {
  readonly state: ReplyState;
  readonly numbers: TakenLists["numbers"];
}

/** A reply while it is written: what it says, what clients were told of it, and what of it is stored. */
export class Reply implements Growing {
  readonly runId: string;
  readonly chatId: string;
  readonly messageId: string;
  readonly output: Output;
  readonly usage: UsageTotal;
  readonly #options: ReplyOptions;
  readonly #lists = createReplyLists();
  #extra: Record<string, unknown> = {};
  #isDirty = false;
  #ended: Readonly<Record<string, unknown>> | undefined;
  readonly #diff = new OutputDiff();
  /** Number of the last event of what is stored; undefined while nothing is that could be added to. */
  #storedSeq: number | undefined;

  constructor(options: ReplyOptions) {
    this.#options = options;
    this.runId = options.runId;
    this.chatId = options.chatId;
    this.messageId = options.messageId;
    this.usage = createUsageTotal(options.before?.usage);
    const { journal } = options;
    this.output = new Output(
      {
        delta: (item, kind, text) => {
          journal.delta(item.id, kind, text);
          this.#diff.text(item, text);
          this.#isDirty = true;
        },
        details: (item, details) => {
          this.#diff.details(item, details);
          this.#isDirty = true;
        },
        border: (item) => {
          // A copy: what is kept for clients that come later must not grow with the item.
          journal.emit("chat:completion", { output: [structuredClone(toShown(item))] });
          this.#diff.whole(item);
          this.#isDirty = true;
          options.writeNow();
        },
      },
      { tags: options.tags, items: options.before?.items ?? [] },
    );
  }

  /** Adds what the reply rests on. */
  addSources(sources: readonly object[]): void {
    this.#add("sources", sources, () => ["chat:completion", { sources }]);
  }

  /** Adds files that are shown with the reply, newest first. */
  addFiles(files: readonly object[]): void {
    this.#add("files", files, () => ["files", { files }]);
  }

  /** Adds HTML documents or addresses that are shown with the reply, newest first. */
  addEmbeds(embeds: readonly string[]): void {
    this.#add("embeds", embeds, () => ["embeds", { embeds }]);
  }

  /** Sends an event of the reply; a status stays with it (contract §3.4). */
  readonly emit = (type: string, data: unknown): void => {
    if (type === "status") {
      this.#add("statusHistory", [data], () => [type, data]);
    } else {
      this.#options.journal.emit(type, data);
    }
  };

  #add(key: ReplyListKey, entries: readonly unknown[], toEvent: () => [string, unknown]): void {
    if (entries.length > 0) {
      const { journal } = this.#options;
      journal.emit(...toEvent());
      this.#lists.add(key, entries, journal.seq);
      this.#isDirty = true;
    }
  }

  /** Notes keys of the message that have no place of their own. */
  note(extra: Record<string, unknown>): void {
    this.#extra = { ...this.#extra, ...extra };
    this.#isDirty = true;
  }

  /** Takes in what chunks carry besides text and calls. */
  readonly extra = (chunk: Chunk): void => {
    const sources = chunk["sources"];
    if (Array.isArray(sources)) {
      this.addSources(sources as object[]);
    }
  };

  /** What is known of the reply, whether stored or not. */
  state(): ReplyState {
    return { ...this.#said(), ...this.#lists.all(), ...this.#facts() };
  }

  /** The same as it is stored: of lists only what is new. */
  toStore(): Stored {
    const { lists, numbers } = this.#lists.take();
    return { state: { ...this.#said(), ...this.#facts(), ...lists }, numbers };
  }

  #said(): ReplyState {
    return { content: toContent(this.output.items), output: this.output.items };
  }

  #facts(): ReplyState {
    const usage = this.usage.total();
    return { ...(usage && { usage }), ...(Object.keys(this.#extra).length > 0 && { extra: this.#extra }) };
  }

  /** What is new since event `after`, which the stored message includes. */
  #toAdd(after: number): Stored & Pick<Checkpoint, "grown"> {
    const { lists, numbers } = this.#lists.take();
    const items = this.#diff.flush(this.output.items);
    return { state: { ...this.#facts(), ...lists }, numbers, grown: { after, items } };
  }

  take(): Checkpoint | undefined {
    if (!this.#isDirty) {
      return undefined;
    }
    this.#isDirty = false;
    const { runId, chatId, messageId } = this;
    const { journal } = this.#options;
    journal.flush();
    const place = { runId, chatId, messageId, seq: journal.seq };
    const after = this.#storedSeq;
    this.#storedSeq = place.seq;
    if (after !== undefined) {
      return { ...place, ...this.#toAdd(after) };
    }
    this.#diff.clear();
    return { ...place, ...this.toStore() };
  }

  failed(): void {
    this.#lists.failed();
    this.#isDirty = true;
    this.#storedSeq = undefined;
  }

  lost(): void {
    this.#options.lost();
  }

  /** Nothing is written any more; `over` stands in place of what was, such as what outlet filters made of it. */
  end(over: Readonly<Record<string, unknown>>): void {
    this.#ended = { ...this.#ended, ...over, done: true };
  }

  get hasEnded(): boolean {
    return this.#ended !== undefined;
  }

  /** The message as a client needs it that has missed events. */
  snapshot(): Record<string, unknown> {
    const { messageId } = this;
    const { extra, ...state } = this.state();
    return {
      id: messageId,
      role: "assistant",
      ...state,
      // A copy: the answer is on its way for a while, and must not grow beyond the event that it names.
      output: structuredClone(this.output.items.map(toShown)),
      done: false,
      ...extra,
      ...this.#ended,
    };
  }
}
