import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { drafts } from "#plugins/web/kit/stores/drafts.ts";
import { session } from "#plugins/web/kit/stores/session.svelte.ts";
import { settings } from "#plugins/web/kit/stores/settings.svelte.ts";
import { toasts } from "#plugins/web/kit/stores/toasts.svelte.ts";
import type { Attachment, ComposerHandle } from "#plugins/web/kit/web.ts";
import type { ChatMessage, ChatView, ChosenTools, Queued, Refusal } from "../data/types.ts";
import { models } from "../picker/models.svelte.ts";
import { Attached } from "./attached.svelte.ts";
import { type Draft, draftKey } from "./draft.ts";
import type { Choice } from "./offered-tools.svelte.ts";
import type { FoundTrigger } from "./find-trigger.ts";

const longPaste = 2000;
/** Where a choice is named. */
const keys = { feature: "features", tool: "toolIds", "built-in": "excluded" } as const;

/** What is written and not yet sent to one chat. */
export class Composer implements ComposerHandle {
  readonly chat: ChatView;
  text = $state("");
  attached = $state.raw<readonly Attached[]>([]);
  /** The own message that is changed instead of a new one written. */
  editing = $state.raw<ChatMessage>();
  /** Why the last message was not taken. */
  failure = $state<string>();
  /** Epoch milliseconds from which the server takes it again, where it said so. */
  retryAt = $state<number>();
  /** Sent as soon as every file is stored and the models are known. */
  sendsWhenReady = $state(false);
  field: HTMLTextAreaElement | undefined;
  /** The text that opened the list of suggestions; `insert` replaces it. */
  trigger: FoundTrigger | undefined;
  /** What stood here before an edit began. */
  #aside: { text: string; attached: readonly Attached[] } | undefined;

  constructor(chat: ChatView) {
    this.chat = chat;
    const draft = chat.isTemporary ? undefined : drafts.of<Draft>(draftKey(chat.id));
    if (draft) {
      this.text = draft.value.text;
      this.attached = draft.value.files.map((file) => new Attached(file));
    }
  }

  /** Keeps what is written over a reload; of temporary chats nothing. Reads all that it keeps, so effects follow it. */
  keepDraft(): void {
    const { text, attached } = this.editing ? (this.#aside ?? { text: "", attached: [] }) : this;
    const files = attached.flatMap(({ state, attachment }) =>
      state === "ready" && attachment ? attachment : [],
    );
    const key = draftKey(this.chat.id);
    if (this.chat.isTemporary) {
      return;
    }
    if (text.trim() === "" && files.length === 0) {
      drafts.remove(key);
    } else {
      drafts.put(key, { text, files } satisfies Draft);
    }
  }

  /** Takes over what is written in another composer. */
  take(other: Composer): void {
    this.text = other.text;
    this.attached = other.attached;
    this.focus();
  }

  get isEmpty(): boolean {
    return this.text.trim() === "" && this.attached.length === 0;
  }

  /** Files are not stored yet, or it is not known yet which models there are. */
  get isPending(): boolean {
    return this.attached.some(({ isPending }) => isPending) || this.#awaitsModels;
  }

  get #awaitsModels(): boolean {
    const { chat } = this;
    return chat.models.length === 0 && (models.state === "loading" || chat.state === "loading");
  }

  /** The first file that could not be uploaded or read. */
  get failed(): Attached | undefined {
    return this.attached.find(({ state }) => state === "failed");
  }

  get hasFailed(): boolean {
    return this.failed !== undefined;
  }

  get canSend(): boolean {
    const hasModels = this.chat.models.length > 0 || this.#awaitsModels;
    return !this.isEmpty && !this.hasFailed && this.chat.canWrite && hasModels;
  }

  /** Puts the cursor behind the text that replaces what opened the list. */
  insert(text: string): void {
    const { start, end } = this.trigger ?? { start: this.text.length, end: this.text.length };
    this.text = this.text.slice(0, start) + text + this.text.slice(end);
    this.trigger = undefined;
    this.focus(start + text.length);
  }

  attach(item: Attachment, prepare?: (signal: AbortSignal) => Promise<Attachment>): void {
    const isThere = this.attached.some(
      ({ attachment: own }) => own?.type === item.type && own.id === item.id,
    );
    this.attached = isThere ? this.attached : [...this.attached, new Attached(item, prepare)];
  }

  attachFiles(files: Iterable<File>): void {
    const most = session.config?.file?.max_count ?? Number.POSITIVE_INFINITY;
    const room = Math.max(0, most - this.attached.length);
    const all = [...files];
    if (all.length > room) {
      this.failure = t("A message takes {most} files at most here.", { most });
    }
    this.attached = [...this.attached, ...all.slice(0, room).map((file) => new Attached(file))];
    this.focus();
  }

  detach(item: Attached): void {
    item.drop();
    this.attached = this.attached.filter((one) => one !== item);
    this.focus();
  }

  setModel(id: string): void {
    this.chat
      .setModels([id])
      .catch((error: unknown) => toasts.fail(error, t("Applies here, but couldn’t be saved with the chat.")));
  }

  /** A chat works in one terminal at a time. */
  toggle(kind: Choice["kind"], id: string): void {
    const { tools } = this.chat;
    if (kind === "terminal") {
      this.choose({ ...tools, terminalId: tools.terminalId === id ? undefined : id });
      return;
    }
    const key = keys[kind];
    const isNamed = tools[key].includes(id);
    this.choose({ ...tools, [key]: isNamed ? tools[key].filter((one) => one !== id) : [...tools[key], id] });
  }

  /** Switches tools for this chat; undefined goes back to what its model begins with. */
  choose(chosen: ChosenTools | undefined): void {
    this.chat
      .setTools(chosen)
      .catch((error: unknown) => toasts.fail(error, t("Applies here, but couldn’t be saved with the chat.")));
  }

  isOn(kind: "feature" | "tool" | "terminal", id: string): boolean {
    if (kind === "terminal") {
      return this.chat.tools.terminalId === id;
    }
    return this.chat.tools[kind === "feature" ? "features" : "toolIds"].includes(id);
  }

  /** Puts the caret in the field, at its end unless told where; what stands up to `end` is selected. */
  focus(cursor = this.text.length, end = cursor): void {
    // The field has the new text after the next update of the page.
    void Promise.resolve().then(() => {
      this.field?.focus();
      this.field?.setSelectionRange(cursor, end);
    });
  }

  /** True when the paste was taken and nothing is to be written. */
  paste(data: DataTransfer | null): boolean {
    const files = [...(data?.files ?? [])];
    const text = data?.getData("text/plain") ?? "";
    if (!session.may("chat.file_upload")) {
      return false;
    }
    // Programs that copy text often put a picture of it beside it.
    if (files.length > 0 && text === "") {
      this.attachFiles(files);
      return true;
    }
    if (text.length > longPaste && settings.get("largeTextAsFile")) {
      this.attachFiles([new File([text], t("Pasted text.txt"), { type: "text/plain" })]);
      return true;
    }
    return false;
  }

  /** Takes the newest own message into the field; sending stores it as a further version. */
  editLast(): boolean {
    const last = this.chat.branch.findLast(({ role }) => role === "user");
    if (!last || !this.chat.canWrite || !session.may("chat.edit")) {
      return false;
    }
    this.edit(last);
    return true;
  }

  edit(message: ChatMessage): void {
    this.#aside ??= { text: this.text, attached: this.attached };
    this.editing = message;
    this.text = message.content;
    this.attached = (message.files ?? []).map((file) => new Attached(file));
    this.focus();
  }

  cancelEdit(): void {
    this.text = this.#aside?.text ?? "";
    this.attached = this.#aside?.attached ?? [];
    this.#aside = undefined;
    this.editing = undefined;
    this.focus();
  }

  /** Takes a waiting message back into the field, above what is written there already. */
  takeBack(id: string): void {
    const queued = this.chat.cancelQueued(id);
    if (queued) {
      this.restore(queued);
    }
  }

  /** Stops the reply; a question that was not sent yet comes back into the field. */
  async stop(): Promise<void> {
    const back = await this.chat.stop();
    back.forEach(({ content, files = [] }) => this.restore({ text: content, files }));
  }

  /** Takes back what the server refused, with the reason. */
  takeRefused({ reason, question, retryAt }: Refusal): void {
    if (question) {
      this.restore({ text: question.content, files: question.files ?? [] });
    }
    this.failure = reason;
    this.retryAt = retryAt;
    this.chat.refusal = undefined;
  }

  restore({ text, files }: Pick<Queued, "text" | "files">): void {
    this.text = [text, this.text].filter((one) => one.trim() !== "").join("\n\n");
    this.attached = [...files.map((file) => new Attached(file)), ...this.attached];
    this.focus();
  }

  /** Sends what is written; waits for files that are not stored yet, and for the models. What is refused comes back into the field. */
  async send(): Promise<void> {
    if (!this.canSend) {
      return;
    }
    if (this.isPending) {
      this.sendsWhenReady = true;
      return;
    }
    const text = this.text.trim();
    const files = this.attached.flatMap(({ attachment }) => (attachment ? [attachment] : []));
    this.attached.forEach((item) => item.send());
    const editing = this.editing;
    const aside = this.#aside;
    this.#clear(aside);
    this.keepDraft();
    models.remember(this.chat.models);
    try {
      await (editing
        ? this.chat.resend(editing.id, text, files)
        : this.chat.send({
            text,
            files,
            models: this.chat.models,
            tools: this.chat.tools,
          }));
    } catch (error) {
      this.failure = (error as Error).message;
      this.restore({ text, files });
    }
  }

  #clear(aside: { text: string; attached: readonly Attached[] } | undefined): void {
    this.text = aside?.text ?? "";
    this.attached = aside?.attached ?? [];
    this.#aside = undefined;
    this.editing = undefined;
    this.failure = undefined;
    this.retryAt = undefined;
    this.sendsWhenReady = false;
  }
}

const composers = new WeakMap<ChatView, Composer>();

/** The composer of an open chat: the same one when its page comes back, with uploads that went on meanwhile. */
export function composerOf(chat: ChatView): Composer {
  const composer = composers.get(chat) ?? new Composer(chat);
  composers.set(chat, composer);
  return composer;
}
