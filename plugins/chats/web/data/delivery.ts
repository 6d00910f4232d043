import { ApiError } from "#plugins/web/kit/client.ts";
import { newId } from "#plugins/web/kit/new-id.ts";
import { socket } from "#plugins/web/kit/stores/socket.svelte.ts";
import { servable } from "./chosen-tools.ts";
import { deliver } from "./deliver.ts";
import type { FollowedChat } from "./followed-chat.svelte.ts";
import { outbox, type OutboxEntry } from "./outbox.ts";
import { type Asked, toRequest, type Turn } from "./request.ts";
import { toParts } from "./request-parts.ts";
import { branchTo } from "./tree.ts";
import type { ChatMessage } from "./types.ts";

type Sent = Pick<Turn, "question" | "replies"> & Asked;

/** Chats that are open in this page; what others left in the outbox is sent without one. */
const open = new Set<Delivery>();

export const isOpen = (chat: string): boolean => [...open].some(({ name }) => name === chat);

/** Sends the questions of one chat, each once, however often the connection breaks in between. */
export class Delivery {
  readonly #chat: FollowedChat;
  /** Called when the server has told the id of the chat. */
  readonly #onmade: (id: string) => void;
  /** Until the server has made the chat. */
  readonly draftName = `new:${newId()}`;
  readonly #unsent = new Map<string, { entry: OutboxEntry; turn: Sent }>();
  readonly #underWay = new Set<string>();
  readonly #withdrawn = new Set<string>();

  constructor(chat: FollowedChat, onmade: (id: string) => void) {
    this.#chat = chat;
    this.#onmade = onmade;
    open.add(this);
  }

  close(): void {
    open.delete(this);
  }

  /** Resolves when the server took it, refused it, or is away; then it is sent by `resume`. */
  async send({ key = newId(), ...turn }: Sent): Promise<void> {
    const chat = this.#chat;
    const before = branchTo(chat.messages, turn.question.parentId ?? undefined);
    const { controls, folderId } = chat;
    const sessionId = socket.id ?? "";
    if (chat.isTemporary) {
      chat.id ??= `temporary:${newId()}`;
    }
    const body = toRequest({
      isFirst: false,
      ...turn,
      before,
      controls,
      tools: servable(turn.tools ?? chat.tools, turn.replies[0]?.model),
      sessionId,
      chatId: chat.id,
      folderId,
    });
    const entry = { key, chat: this.name, body, at: Date.now() };
    this.#unsent.set(key, { entry, turn });
    this.#keep(entry);
    idsOf(turn).forEach((id) => chat.sending.add(id));
    // Kept first: a server that is away must not hold the question up on its way into the outbox.
    await this.#complete(key);
    const complete = this.#unsent.get(key)?.entry;
    if (complete !== undefined) {
      await this.#deliver(complete);
    }
  }

  /** Adds to a request what plugins have for it, unless it was taken back or sent meanwhile. */
  async #complete(key: string): Promise<void> {
    const parts = await toParts();
    const entry = this.#unsent.get(key)?.entry;
    if (entry !== undefined && !entry.isTried && Object.keys(parts).length > 0) {
      this.#keep({ ...entry, body: { ...entry.body, ...parts } });
    }
  }

  /** Sends what could not be sent before, by this page or by an earlier one. */
  async resume(): Promise<void> {
    for (const { entry } of this.#unsent.values()) {
      await this.#deliver(entry);
    }
    for (const entry of outbox.of(this.name)) {
      await this.#deliver(entry);
    }
  }

  /** Takes back what the server cannot have got: the questions go out of the chat, and are returned. */
  withdraw(): readonly ChatMessage[] {
    const back = [...this.#unsent.values()].filter(({ entry, turn }) => !entry.isTried && this.#isNew(turn));
    for (const { entry, turn } of back) {
      this.#withdrawn.add(entry.key);
      outbox.remove(entry.key);
      this.#unsent.delete(entry.key);
      idsOf(turn).forEach((id) => this.#chat.sending.delete(id));
      this.#chat.takeOut(turn.question.id);
      turn.replies.forEach(({ id }) => this.#chat.end(id));
    }
    return back.map(({ turn }) => turn.question);
  }

  /** Whether its question came with it: one that is answered again has other replies, or the one that goes on. */
  #isNew({ question, replies, continues }: Sent): boolean {
    const children = this.#chat.message(question.id)?.childrenIds ?? [];
    return !continues && children.length === replies.length;
  }

  /** True while this window or another one has a question that the server has not taken. */
  get isWaiting(): boolean {
    return this.#unsent.size > 0 || outbox.of(this.name).length > 0;
  }

  /** What the outbox calls this chat. */
  get name(): string {
    return this.#chat.id ?? this.draftName;
  }

  #keep(entry: OutboxEntry): void {
    if (this.#withdrawn.has(entry.key)) {
      throw new Error("The question was taken back.");
    }
    const own = this.#unsent.get(entry.key);
    if (own) {
      own.entry = entry;
    }
    if (!this.#chat.isTemporary) {
      outbox.put(entry);
    }
  }

  async #deliver(entry: OutboxEntry): Promise<void> {
    const { key } = entry;
    if (this.#underWay.has(key)) {
      return;
    }
    this.#underWay.add(key);
    const isOwn = this.#unsent.has(key);
    try {
      const id = await deliver(entry, (sent) => this.#keep(sent));
      if (this.#chat.id === undefined && id !== undefined) {
        this.#chat.id = id;
        this.#onmade(id);
      }
      this.#sent(key);
      if (!isOwn) {
        await this.#chat.load();
      }
    } catch (error) {
      if (error instanceof ApiError) {
        await this.#refused(key, error);
      }
      // Else it waits in the outbox until the server is back.
    } finally {
      this.#underWay.delete(key);
    }
  }

  #sent(key: string): void {
    const turn = this.#unsent.get(key)?.turn;
    this.#unsent.delete(key);
    (turn ? idsOf(turn) : []).forEach((id) => this.#chat.sending.delete(id));
    this.#chat.placed += 1;
    this.#chat.resumeFeeds();
  }

  /** A refusal before the run began shows in place of the replies, which can be tried again. */
  async #refused(key: string, error: ApiError): Promise<void> {
    const turn = this.#unsent.get(key)?.turn;
    for (const { id } of turn?.replies ?? []) {
      // Another window was quicker, or writes this reply: the server has what counts.
      const change = error.status === 409 ? {} : { error: { content: error.message } };
      this.#chat.patch(id, { done: true, ...change });
      this.#chat.end(id);
    }
    this.#sent(key);
    if (turn === undefined || error.status === 409) {
      await this.#chat.load();
    }
  }
}

const idsOf = ({ question, replies }: Sent): string[] => [question.id, ...replies.map(({ id }) => id)];
