import { ApiError } from "#plugins/web/kit/client.ts";
import { newId } from "#plugins/web/kit/new-id.ts";
import { serverNow } from "#plugins/web/kit/stores/server-time.ts";
import { socket } from "#plugins/web/kit/stores/socket.svelte.ts";
import { servable } from "./chosen-tools.ts";
import { deliver } from "./deliver.ts";
import type { FollowedChat } from "./followed-chat.svelte.ts";
import { outbox, type OutboxEntry } from "./outbox.ts";
import { Recalls } from "./recalls.ts";
import { type Asked, toRequest, type Turn } from "./request.ts";
import { toParts } from "./request-parts.ts";
import { Retry } from "./retry.svelte.ts";
import { branchTo } from "./tree.ts";
import type { ChatMessage, Refusal, Unsent } from "./types.ts";

type Sent = Pick<Turn, "question" | "replies"> &
  Asked & {
    /** The question came with it: it is not one that is answered again, or whose reply goes on. */
    readonly isNew: boolean;
  };

interface Waiting {
  entry: OutboxEntry;
  readonly turn: Sent;
  readonly abort: AbortController;
}

interface DeliveryParts {
  /** Called when the server has told the id of the chat. */
  onmade(id: string): void;
  /** Called with what the server did not take; a new question is out of the chat by then. */
  onrefused(refusal: Refusal): void;
}

/** Chats that are open in this page; what others left in the outbox is sent without one. */
const open = new Set<Delivery>();

export const isOpen = (chat: string): boolean => [...open].some(({ name }) => name === chat);

/** Sends the questions of one chat, each once, however often the connection breaks in between. */
export class Delivery {
  readonly #chat: FollowedChat;
  readonly #parts: DeliveryParts;
  /** Until the server has made the chat. */
  readonly draftName = `new:${newId()}`;
  readonly #unsent = new Map<string, Waiting>();
  readonly #underWay = new Set<string>();
  /** Keys of what was taken back, or was proved to have arrived: the answer to the request changes nothing then. */
  readonly #decided = new Set<string>();
  readonly #recalls: Recalls;
  readonly #retry = new Retry(() => this.resume());

  constructor(chat: FollowedChat, parts: DeliveryParts) {
    this.#chat = chat;
    this.#parts = parts;
    this.#recalls = new Recalls(chat);
    open.add(this);
  }

  /** What is not sent by now is left to the outbox. */
  close(): void {
    open.delete(this);
    this.#retry.close();
  }

  /** Resolves when the server took it, refused it, or could not be reached; then it is sent again by itself. */
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
    this.#unsent.set(key, { entry, turn, abort: new AbortController() });
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
    const own = [...this.#unsent.values()].map(({ entry }) => entry);
    const left = outbox.of(this.name).filter(({ key }) => !this.#unsent.has(key));
    for (const entry of [...own, ...left]) {
      if (!(await this.#deliver(entry))) {
        return;
      }
    }
  }

  /** How it stands with what did not reach the server at the first try; undefined for nothing. */
  get unsent(): Unsent | undefined {
    const { failures, isHeld, at: retryAt } = this.#retry;
    return this.#chat.sending.size > 0 && (failures > 0 || isHeld) ? { retryAt, isHeld } : undefined;
  }

  sendNow(): void {
    this.#retry.now();
  }

  /**
   * Takes back what the server has not confirmed, and returns its new questions; undefined when there is nothing. A
   * request that is on its way is waited for, and what it did is undone.
   */
  withdraw(): readonly ChatMessage[] | undefined {
    const back = [...this.#unsent.values()];
    for (const { entry, turn, abort } of back) {
      const { key, isTried } = entry;
      this.#decided.add(key);
      outbox.remove(key);
      this.#undo(key, turn);
      if (isTried) {
        this.#recall(entry, turn);
      } else {
        abort.abort();
      }
    }
    this.#retry.reset();
    return back.length === 0
      ? undefined
      : back.filter(({ turn }) => turn.isNew).map(({ turn }) => turn.question);
  }

  #recall({ key, body }: OutboxEntry, { question, replies, isNew, continues = false }: Sent): void {
    this.#recalls.add(key, {
      question: isNew ? question.id : undefined,
      replies: replies.map((reply) => reply.id),
      continues,
      makesChat: body["chat_id"] === undefined,
    });
  }

  /** True for an event of a reply that was taken back, which the page does not show. */
  isRecalled(replyId: string, chatId: string | undefined): boolean {
    return this.#recalls.receive(replyId, chatId);
  }

  /** An event of a reply proves that the server has its question, whatever became of the answer. */
  confirm(replyId: string, chatId: string | undefined): void {
    for (const [key, { turn }] of this.#unsent) {
      if (turn.replies.some(({ id }) => id === replyId)) {
        outbox.remove(key);
        this.#decided.add(key);
        this.#sent(key, chatId);
      }
    }
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
    if (this.#decided.has(entry.key)) {
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

  /** Resolves to false when it did not reach the server. */
  async #deliver(entry: OutboxEntry): Promise<boolean> {
    const { key } = entry;
    if (this.#underWay.has(key) || this.#decided.has(key)) {
      return true;
    }
    this.#underWay.add(key);
    const own = this.#unsent.get(key);
    try {
      const id = await deliver(entry, {
        keep: (sent) => this.#keep(sent),
        onheld: () => (this.#retry.isHeld = !this.#decided.has(key)),
        ...(own && { signal: own.abort.signal }),
      });
      if (!this.#decided.has(key)) {
        this.#sent(key, id);
      } else if (id !== undefined) {
        await this.#recalls.take(key, id);
      }
      if (!own) {
        await this.#chat.load();
      }
      return true;
    } catch (error) {
      if (error instanceof ApiError) {
        await this.#refused(entry, error);
      } else if (!this.#decided.has(key)) {
        this.#retry.plan();
        return false;
      }
      return true;
    } finally {
      this.#underWay.delete(key);
    }
  }

  #sent(key: string, chatId?: string): void {
    const chat = this.#chat;
    if (chat.id === undefined && chatId !== undefined) {
      chat.id = chatId;
      this.#parts.onmade(chatId);
    }
    const turn = this.#unsent.get(key)?.turn;
    this.#unsent.delete(key);
    (turn ? idsOf(turn) : []).forEach((id) => chat.sending.delete(id));
    this.#retry.reset();
    chat.placed += 1;
    chat.resumeFeeds();
  }

  /** A new question comes back to its writer: what follows a message that the server never saw is never read. */
  async #refused({ key, body }: OutboxEntry, error: ApiError): Promise<void> {
    if (this.#decided.has(key)) {
      return;
    }
    const turn = this.#unsent.get(key)?.turn;
    if (error.status === 409 && this.#chat.id !== undefined) {
      // Another window was quicker, or writes this reply: the server has what counts.
      turn?.replies.forEach(({ id }) => {
        this.#chat.patch(id, { done: true });
        this.#chat.end(id);
      });
      this.#sent(key);
      await this.#chat.load();
      return;
    }
    const asked = turn ? turn.question : (body["user_message"] as Refusal["question"]);
    if (turn) {
      this.#undo(key, turn);
    }
    this.#retry.reset();
    this.#parts.onrefused({
      reason: error.message,
      question: turn?.isNew === false ? undefined : asked,
      retryAt: error.retryAfter === undefined ? undefined : serverNow() + error.retryAfter * 1000,
    });
    if (error.status === 404) {
      // The chat itself may be gone.
      await this.#chat.load();
    }
  }

  /** Puts the chat back to how it was: the server knows none of it, and nothing can follow it there. */
  #undo(key: string, { question, replies, continues, isNew }: Sent): void {
    const chat = this.#chat;
    this.#unsent.delete(key);
    idsOf({ question, replies }).forEach((id) => chat.sending.delete(id));
    if (isNew) {
      chat.takeOut(question.id);
    } else if (continues) {
      replies.forEach(({ id }) => chat.patch(id, { done: true }));
    } else {
      replies.forEach(({ id }) => chat.takeOut(id));
      chat.turnTo(question.id);
    }
    replies.forEach(({ id }) => chat.end(id));
  }
}

const idsOf = ({ question, replies }: Pick<Sent, "question" | "replies">): string[] => [
  question.id,
  ...replies.map(({ id }) => id),
];
