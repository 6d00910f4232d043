import { newId } from "#plugins/web/kit/new-id.ts";
import { server } from "#plugins/web/kit/server.ts";
import { session } from "#plugins/web/kit/stores/session.svelte.ts";
import { serverNow } from "#plugins/web/kit/stores/server-time.ts";
import type { Attachment } from "#plugins/web/kit/web.ts";
import { ActionRuns } from "./action-runs.svelte.ts";
import { answerAsked } from "./asked-questions.ts";
import * as edits from "./chat-edits.ts";
import { ChatEvents } from "./chat-events.svelte.ts";
import { Delivery } from "./delivery.ts";
import { FollowedChat } from "./followed-chat.svelte.ts";
import { sendLeftBehind } from "./left-behind.ts";
import { MessageQueue } from "./message-queue.svelte.ts";
import type { Asked } from "./request.ts";
import { toStorable } from "./storable-text.ts";
import type { ChatMessage, ChatView, ChosenTools, Controls, Queued, Rating, Sending } from "./types.ts";

export interface NewChatOptions {
  readonly models: readonly string[];
  readonly folderId?: string | null;
  readonly isTemporary?: boolean;
}

/** One open chat: what the server has of it, what is written right now, and what waits to be sent. */
export class ChatStore extends FollowedChat implements ChatView {
  readonly #events: ChatEvents;
  readonly #delivery: Delivery;
  readonly #queue: MessageQueue;
  readonly #actions = new ActionRuns(this, {
    write: (messageId, text) => edits.write(this, messageId, { text }),
    onend: (messageId) => this.#events.dropQuestions((question) => question.messageId === messageId),
  });

  constructor(from: string | NewChatOptions) {
    super();
    this.#events = new ChatEvents(this, () => this.resumeAll());
    if (typeof from === "string") {
      this.id = from;
    } else {
      this.models = from.models;
      this.folderId = from.folderId ?? null;
      this.isTemporary = from.isTemporary ?? false;
      this.state = "ready";
    }
    this.#delivery = new Delivery(this, {
      onmade: (id) => this.#queue.moveTo(id),
      onrefused: (refusal) => (this.refusal = refusal),
    });
    this.#queue = new MessageQueue(this.id ?? this.#delivery.draftName, !this.isTemporary);
    if (typeof from === "string") {
      void this.load();
    }
  }

  get queue(): ChatView["queue"] {
    return this.#queue.items;
  }

  get unsent(): ChatView["unsent"] {
    return this.#delivery.unsent;
  }

  sendNow = () => this.#delivery.sendNow();

  get approvals(): ChatView["approvals"] {
    return this.#events.approvals([...this.feeds.keys()]);
  }

  get questions(): ChatView["questions"] {
    return this.#events.questions;
  }

  show(messageId: string): void {
    this.turnTo(messageId);
    void edits.storeLeaf(this);
  }

  /** Ends listening; the server goes on. */
  close(): void {
    this.#events.close();
    this.#delivery.close();
    this.#queue.close();
    this.closeFeeds();
    void sendLeftBehind();
  }

  resumeAll(): void {
    this.resumeFeeds();
    void this.#delivery.resume();
  }

  protected onarrived(replyId: string, chatId: string | undefined): void {
    this.#delivery.confirm(replyId, chatId);
  }

  protected isRecalled(replyId: string, chatId: string | undefined): boolean {
    return this.#delivery.isRecalled(replyId, chatId);
  }

  protected onidle(): void {
    // A function that works on another message goes on, and waits for its answer.
    this.#events.dropQuestions(({ messageId }) => !this.#actions.isRunning(messageId ?? ""));
    this.#pump();
  }

  protected onload(): void {
    if (this.isRunning) {
      this.#events.recall();
    }
    void this.#delivery.resume().then(() => this.#pump());
  }

  /** Reads a chat anew that could not be read. */
  retry(): void {
    this.state = "loading";
    void this.load();
  }

  async send(sending: Sending): Promise<void> {
    if (session.viewRefusal !== undefined) {
      throw new Error(session.viewRefusal);
    }
    if (this.isRunning || this.queue.length > 0) {
      this.#queue.push({ ...sending, id: newId(), state: "queued" });
      this.#pump();
      return;
    }
    await this.#ask(sending);
  }

  cancelQueued(id: string): Queued | undefined {
    return this.#queue.take(id);
  }

  /** Sends the first of those that wait, behind what the server has not got yet. */
  #pump(): void {
    const isReady = this.state === "ready" && !this.isRunning && !this.#delivery.isWaiting;
    if (this.queue.length > 0 && isReady) {
      const next = this.#queue.take();
      if (next) {
        void this.#ask(next, next.id);
      }
    }
  }

  /** `key` names the request to the server: another window that sends the same message sends it in vain. */
  async #ask({ text, files, models, tools, isSpoken }: Sending, key?: string): Promise<void> {
    const parentId = this.leafId;
    const question = this.#question(parentId, { text, files, models });
    await this.ask(question, models, { isFirst: parentId === null, tools, key, isSpoken });
  }

  /** An own message that hangs below another one, shown at once. */
  #question(parentId: string | null, { text, files, models }: Sending): ChatMessage {
    const question: ChatMessage = {
      id: newId(),
      parentId,
      childrenIds: [],
      role: "user",
      content: toStorable(text),
      timestamp: Math.floor(serverNow() / 1000),
      models,
      ...(files.length > 0 && { files }),
    };
    this.add(question);
    return question;
  }

  /** Asks models for replies to a question: columns side by side, or one version more. */
  async ask(question: ChatMessage, models: readonly string[], more: Asked = {}): Promise<void> {
    const columns = more.replies ?? models.map((model, modelIdx) => ({ id: newId(), model, modelIdx }));
    for (const { id, model, modelIdx } of more.continues ? [] : columns) {
      this.add({
        id,
        model,
        modelIdx,
        parentId: question.id,
        childrenIds: [],
        role: "assistant",
        content: "",
        output: [],
        timestamp: Math.floor(serverNow() / 1000),
        done: false,
      });
    }
    columns.forEach(({ id }) => this.follow(id));
    this.leafId = columns[0]?.id ?? question.id;
    const isMade = this.id !== undefined;
    this.refusal = undefined;
    await this.#delivery.send({ ...more, question, replies: columns, isNew: more.replies === undefined });
    if (!isMade && this.chosenTools) {
      // The choice is a convenience: the message is sent without it being kept.
      await edits.setTools(this, this.chosenTools).catch(() => undefined);
    }
  }

  async stop(): Promise<readonly ChatMessage[]> {
    const withdrawn = this.#delivery.withdraw();
    if (withdrawn === undefined && this.id !== undefined) {
      await server.call("POST /api/tasks/chat/:chat_id/stop", { params: { chat_id: this.id } });
      this.resumeFeeds();
    }
    return withdrawn ?? [];
  }

  regenerate = (replyId: string, options: { model?: string; instruction?: string } = {}) =>
    edits.regenerate(this, replyId, options);
  continueReply = (replyId: string) => edits.continueReply(this, replyId);
  resend = (messageId: string, text: string, files?: readonly Attachment[]) => {
    const old = this.messages.get(messageId);
    const { models } = this;
    const question = this.#question(old?.parentId ?? null, {
      text,
      files: files ?? old?.files ?? [],
      models,
    });
    return this.ask(question, models);
  };
  edit = (messageId: string, text: string, before: string) => edits.edit(this, messageId, { text, before });
  resolveConflict = (keep: "mine" | "theirs") => edits.resolveConflict(this, keep);
  remove = (messageId: string) => edits.remove(this, messageId);
  rate = (replyId: string, rating: Rating | undefined) => edits.rate(this, replyId, rating);
  merge = (replyId: string) => edits.merge(this, replyId);
  actionRun = (messageId: string) => this.#actions.of(messageId);
  runAction: ChatView["runAction"] = (action, messageId) => this.#actions.run(action, messageId);
  endAction = (messageId: string) => this.#actions.end(messageId);
  rename = (title: string) => edits.rename(this, title);
  keep = () => edits.keep(this);
  fork = (messageId: string) => edits.fork(this, messageId);
  setTools = (chosen: ChosenTools | undefined) => edits.setTools(this, chosen);
  setControls = (change: Partial<Controls>) => edits.setControls(this, change);
  decide: ChatView["decide"] = (approval, decision, always) =>
    this.#events.decide(approval, decision, always);
  answerAsked: ChatView["answerAsked"] = (asked, answer) => answerAsked(this, asked, answer);
  answer: ChatView["answer"] = (question, value) => this.#events.answer(question, value);

  setModels = (models: readonly string[]) => edits.setModels(this, models);
}
