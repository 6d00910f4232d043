import { server } from "#plugins/web/kit/server.ts";
import { type EventEnvelope, socket } from "#plugins/web/kit/stores/socket.svelte.ts";
import { toasts } from "#plugins/web/kit/stores/toasts.svelte.ts";
import type { FollowedChat } from "./followed-chat.svelte.ts";
import { applyEvents } from "./reply.ts";
import type { Approval, Question, QuestionAnswer } from "./types.ts";

type Bag = Readonly<Record<string, unknown>>;

const reloadPauseMs = 300;

/** Events of one chat from the socket, and questions to the person. */
export class ChatEvents {
  questions = $state.raw<readonly Question[]>([]);
  readonly #chat: FollowedChat;
  readonly #answers = new Map<number, (value: QuestionAnswer) => void>();
  #lastQuestion = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #ways: (() => void)[];

  /** `onreturn` is called when the connection is back. */
  constructor(chat: FollowedChat, onreturn: () => void) {
    this.#chat = chat;
    this.#ways = [
      socket.on<EventEnvelope>("events", (envelope) => this.#receive(envelope)),
      socket.on("resync", () => this.#return(onreturn)),
      socket.onConnect((isAgain) => isAgain && this.#return(onreturn)),
    ];
  }

  close(): void {
    this.#ways.forEach((leave) => leave());
    clearTimeout(this.#timer);
  }

  /** Calls of tools that wait, among the replies that are being written. */
  approvals(ids: readonly string[]): readonly Approval[] {
    return ids.flatMap((messageId) =>
      (this.#chat.message(messageId)?.output ?? []).flatMap((item) => {
        const approval = item["approval"] as
          | { status?: string; expires_at?: number; changed?: Approval["changed"] }
          | undefined;
        const { title = "", server = "" } = (item["tool"] ?? {}) as { title?: string; server?: string };
        return approval?.status === "pending"
          ? [
              {
                messageId,
                // Code that a model wrote into its text waits as a call of its tool does.
                callId: String(item["call_id"] ?? item.id),
                name: String(item["name"] ?? "execute_code"),
                title,
                server,
                ...(approval.changed && { changed: approval.changed }),
                arguments: String(item["arguments"] ?? JSON.stringify({ code: item["code"] })),
                expiresAt: (approval.expires_at ?? 0) * 1000,
              },
            ]
          : [];
      }),
    );
  }

  async decide({ messageId, callId }: Approval, decision: "allow" | "deny", always = false): Promise<void> {
    await server.call("POST /api/v1/chats/:id/messages/:message_id/approvals/:call_id", {
      params: { id: this.#chat.id ?? "", message_id: messageId, call_id: callId },
      body: { decision, always },
    });
  }

  /** Has the server ask what the chat waits for: a page that was loaded again knows nothing of it. */
  recall(): void {
    const { id } = this.#chat;
    if (id !== undefined) {
      socket.emit("chat:questions", { chat_id: id }).catch(() => undefined);
    }
  }

  answer({ id }: Question, value: QuestionAnswer): void {
    this.#answers.get(id)?.(value);
    this.#answers.delete(id);
    this.questions = this.questions.filter((one) => one.id !== id);
  }

  /** Takes questions back whose asker ended. */
  dropQuestions(isOver: (question: Question) => boolean): void {
    this.questions.filter(isOver).forEach((question) => this.answer(question, null));
  }

  /** What is returned answers calls of the server. */
  #receive(envelope: EventEnvelope): unknown {
    const chat = this.#chat;
    const { type } = envelope.data;
    const data = (envelope.data.data ?? {}) as Bag;
    const isMine = chat.id !== undefined && envelope.chat_id === chat.id;
    if (
      (type === "confirmation" || type === "input") &&
      (isMine || chat.isWriting(envelope.message_id ?? ""))
    ) {
      // Calls of tools are decided where they stand in the reply.
      return data["call_id"] === undefined ? this.#ask(type, envelope) : undefined;
    }
    if (type === "chat:list" && data["deleted"] === "all") {
      // Chats that are shared with the person stay.
      void chat.load();
    } else if (type === "chat:list" && Array.isArray(data["deleted"]) && data["deleted"].includes(chat.id)) {
      chat.isDeleted = true;
    }
    if (chat.receive(envelope) || !isMine) {
      return undefined;
    }
    this.#apply(envelope, data);
    return undefined;
  }

  #apply({ message_id: messageId, data: { type, data: raw } }: EventEnvelope, data: Bag): void {
    const chat = this.#chat;
    if (type === "chat:title") {
      chat.title = typeof raw === "string" ? raw : String(data["title"] ?? chat.title);
    } else if (type === "chat:tags") {
      chat.tags = [...new Set([...chat.tags, ...(Array.isArray(raw) ? raw.map(String) : [])])];
    } else if (type === "chat:reload") {
      this.#reload();
    } else if (type === "notification") {
      toasts.show({ kind: toKind(data["type"]), text: String(data["content"] ?? "") });
    } else if (type === "chat:outlet") {
      (data["messages"] as Bag[] | undefined)?.forEach((one) =>
        chat.patchText(String(one["id"]), String(one["content"] ?? "")),
      );
    } else if (messageId) {
      const message = chat.message(messageId);
      const isGrowing = message?.done === false || type === "chat:message:delta";
      if (!message || (isGrowing && type !== "chat:tasks:cancel")) {
        // Another window asks or continues something: its messages are on the server already.
        this.#reload();
      } else if (type !== "chat:completion") {
        const changed = applyEvents(message, [{ type, data: raw }]);
        chat.messages.set(messageId, changed);
        chat.tasks = type === "chat:message:tasks" ? (changed.tasks ?? []) : chat.tasks;
      }
    }
  }

  #ask(kind: Question["kind"], envelope: EventEnvelope): Promise<unknown> {
    const data = (envelope.data.data ?? {}) as Bag;
    const known = String(data["question_id"] ?? "");
    const before = this.questions.filter(({ questionId }) => known !== "" && questionId === known);
    // Asked again after the connection came back: the answer belongs to the new one.
    before.forEach(({ id }) => this.#answers.delete(id));
    this.#lastQuestion += 1;
    const question: Question = {
      id: before[0]?.id ?? this.#lastQuestion,
      questionId: known,
      messageId: envelope.message_id,
      kind,
      title: String(data["title"] ?? ""),
      message: String(data["message"] ?? ""),
      placeholder: String(data["placeholder"] ?? ""),
      value: String(data["value"] ?? ""),
      isSecret: data["type"] === "password",
      ...(typeof data["schema"] === "object" && data["schema"] !== null && { schema: data["schema"] as Bag }),
    };
    this.questions = before.length > 0 ? this.questions : [...this.questions, question];
    return new Promise((resolve) => {
      this.#answers.set(question.id, (value) => resolve(value ?? false));
    });
  }

  /** What happened meanwhile was not told. */
  #return(onreturn: () => void): void {
    onreturn();
    this.#reload();
  }

  /** Reads the chat once for all events of a moment; a stream of them does not put it off. */
  #reload(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.#chat.load();
    }, reloadPauseMs);
  }
}

const kinds = { success: "good", warning: "warning", error: "bad" } as const;
const toKind = (type: unknown) => kinds[type as keyof typeof kinds] ?? "info";
