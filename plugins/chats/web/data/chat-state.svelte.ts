import { untrack } from "svelte";
import { SvelteMap } from "svelte/reactivity";
import { session } from "#plugins/web/kit/stores/session.svelte.ts";
import { applyEvents } from "./reply.ts";
import { defaultTools, readChosen } from "./chosen-tools.ts";
import { readControls, readMessages, readTagNames, type ServerChat } from "./server-chat.ts";
import { branchTo, columnsOf, isBranched, leafOf, versionsOf } from "./tree.ts";
import type { ChatMessage, ChatView, ChosenTools, Controls, EditConflict, Refusal, Task } from "./types.ts";

/** State of one chat: its facts, the tree of its messages and the branch that is shown. */
export class ChatState {
  id = $state<string>();
  title = $state("");
  state = $state<ChatView["state"]>("loading");
  failure = $state.raw<Error>();
  #isOwn = $state(true);
  /** The server does not have it any more. */
  isDeleted = $state(false);
  isTemporary = $state(false);
  folderId = $state<string | null>(null);
  isPinned = $state(false);
  isArchived = $state(false);
  shareId = $state<string | null>(null);
  #tags = $state.raw<readonly string[]>([]);
  /** Those whose names are on their way. */
  #tagIds: readonly string[] | undefined;
  contextUsage = $state.raw<ChatView["contextUsage"]>();
  models = $state.raw<readonly string[]>([]);
  controls = $state.raw<Controls>({ system: "", params: {}, variables: {} });
  chosenTools = $state.raw<ChosenTools>();
  conflict = $state.raw<EditConflict>();
  refusal = $state.raw<Refusal>();
  tasks = $state.raw<readonly Task[]>([]);
  readonly messages = new SvelteMap<string, ChatMessage>();
  leafId = $state<string | null>(null);
  /** Changes with the shape of the tree alone, so that a growing reply touches nothing but itself. */
  #shape = $state(0);
  readonly #branchIds = $derived.by(() => {
    void this.#shape;
    const leaf = this.leafId;
    return untrack(() => branchTo(this.messages, leaf ?? undefined).map(({ id }) => id));
  });

  readonly hasBranches = $derived.by(() => {
    void this.#shape;
    return untrack(() => isBranched(this.messages));
  });

  /** Chats of others are read only, and in a view all of them are. */
  get canWrite(): boolean {
    return this.#isOwn && !session.isView;
  }

  get tools(): ChosenTools {
    return this.chosenTools ?? defaultTools(this.models[0]);
  }

  get hasOwnTools(): boolean {
    return this.chosenTools !== undefined;
  }

  get branchIds(): readonly string[] {
    return this.#branchIds;
  }

  get branch(): readonly ChatMessage[] {
    return this.branchIds.map((id) => this.messages.get(id)).filter((one) => one !== undefined);
  }

  message(id: string): ChatMessage | undefined {
    return this.messages.get(id);
  }

  versions(id: string): readonly string[] {
    void this.#shape;
    return untrack(() => versionsOf(this.messages, id));
  }

  columns(replyId: string): readonly ChatMessage[] {
    void this.#shape;
    const ids = untrack(() => columnsOf(this.messages, replyId).map(({ id }) => id));
    return ids.map((id) => this.messages.get(id)).filter((one) => one !== undefined);
  }

  /** Names of its tags. */
  get tags(): readonly string[] {
    return this.#tags;
  }

  set tags(names: readonly string[]) {
    this.#tagIds = undefined;
    this.#tags = names;
  }

  /** Shows the branch that runs through a message. */
  turnTo(messageId: string): void {
    this.leafId = leafOf(this.messages, messageId);
  }

  /** Puts what the server has in place; those that are being `written` stay as the page has them. */
  protected take(stored: ServerChat, written: ReadonlySet<string>): void {
    const messages = readMessages(stored);
    const { currentId } = stored.chat.history;
    const isFollowed = this.#continues(messages, currentId);
    for (const [id, message] of messages) {
      const own = this.messages.get(id);
      this.messages.set(id, own && written.has(id) ? { ...own, childrenIds: message.childrenIds } : message);
    }
    // Messages that were removed elsewhere go; those that the server has not got yet stay.
    [...this.messages.keys()]
      .filter((id) => !messages.has(id) && !written.has(id))
      .forEach((id) => this.messages.delete(id));
    this.#linkUnsent(messages);
    this.title = stored.title;
    this.#isOwn = stored.user_id === session.current?.id;
    this.folderId = stored.folder_id;
    this.isPinned = stored.pinned === true;
    this.isArchived = stored.archived;
    this.shareId = stored.share_id;
    void this.#nameTags(stored);
    this.tasks = Array.isArray(stored.tasks) ? stored.tasks : this.tasks;
    this.models = stored.chat.models?.length ? stored.chat.models : this.models;
    this.controls = readControls(stored);
    this.chosenTools = readChosen(stored);
    const usage = stored.context_usage;
    this.contextUsage = usage ? { used: usage.tokens, limit: usage.threshold } : undefined;
    if (isFollowed || this.leafId === null || !this.messages.has(this.leafId)) {
      this.leafId = currentId ?? [...messages.keys()].at(-1) ?? null;
    }
    this.changed();
  }

  /** The record has the ids of its tags; people gave them names. */
  async #nameTags({ id, meta: { tags: ids = [] } }: ServerChat): Promise<void> {
    this.#tagIds = ids;
    const names = ids.length > 0 ? await readTagNames(id).catch(() => ids) : ids;
    if (this.#tagIds === ids) {
      this.tags = names;
    }
  }

  /** Whether the newest message of the server is new to this page and goes on from the branch that is shown. */
  #continues(stored: ReadonlyMap<string, ChatMessage>, newest: string | null): boolean {
    if (newest === null || this.messages.has(newest) || this.leafId === null) {
      return false;
    }
    const known = branchTo(stored, newest).findLast(({ id }) => this.messages.has(id));
    return known === undefined || this.branchIds.includes(known.id);
  }

  /** Questions that the server has not got yet keep their place below the message that they follow. */
  #linkUnsent(stored: ReadonlyMap<string, ChatMessage>): void {
    for (const { id, parentId } of this.messages.values()) {
      const parent = stored.has(id) || parentId === null ? undefined : this.messages.get(parentId);
      if (parent && !parent.childrenIds.includes(id)) {
        this.messages.set(parent.id, { ...parent, childrenIds: [...parent.childrenIds, id] });
      }
    }
  }

  /** Says that messages came, went or moved. */
  changed(): void {
    this.#shape += 1;
  }

  patch(id: string, change: Partial<ChatMessage>): void {
    const message = this.messages.get(id);
    if (message) {
      this.messages.set(id, { ...message, ...change });
    }
  }

  /** Replaces what a message says, in its output as well. */
  patchText(id: string, content: string): void {
    const message = this.messages.get(id);
    if (message) {
      this.messages.set(id, applyEvents(message, [{ type: "replace", data: { content } }]));
    }
  }

  /** Takes a message out of the tree, with all that follows it. */
  takeOut(id: string): void {
    const message = this.messages.get(id);
    const parent = this.messages.get(message?.parentId ?? "");
    if (parent) {
      const childrenIds = parent.childrenIds.filter((child) => child !== id);
      this.messages.set(parent.id, { ...parent, childrenIds });
    }
    const isShown = this.branchIds.includes(id);
    for (let gone = [id]; gone.length > 0;) {
      const next = gone.flatMap((one) => this.messages.get(one)?.childrenIds ?? []);
      gone.forEach((one) => this.messages.delete(one));
      gone = next;
    }
    this.leafId = isShown ? (message?.parentId ?? null) : this.leafId;
    this.changed();
  }

  /** Puts a message into the tree. */
  add(message: ChatMessage): void {
    this.messages.set(message.id, message);
    const parent = message.parentId === null ? undefined : this.messages.get(message.parentId);
    if (parent && !parent.childrenIds.includes(message.id)) {
      this.messages.set(parent.id, { ...parent, childrenIds: [...parent.childrenIds, message.id] });
    }
    this.changed();
  }
}
