import { SvelteMap } from "svelte/reactivity";
import { server } from "#plugins/web/kit/server.ts";
import { socket } from "#plugins/web/kit/stores/socket.svelte.ts";
import type { ChatState } from "./chat-state.svelte.ts";
import { changedMessages, textOf } from "./reply.ts";
import type { ActionRun, FunctionAction } from "./types.ts";

interface Parts {
  /** Stores what a message says from now on. */
  write(messageId: string, text: string): Promise<void>;
  /** Takes back what the function asks, once nobody waits for the answer. */
  onend(messageId: string): void;
}

/** Functions that people start by a button beside a message; one at a time for each message. */
export class ActionRuns {
  readonly #chat: ChatState;
  readonly #parts: Parts;
  readonly #runs = new SvelteMap<string, ActionRun>();
  readonly #aborts = new Map<string, AbortController>();

  constructor(chat: ChatState, parts: Parts) {
    this.#chat = chat;
    this.#parts = parts;
  }

  of(messageId: string): ActionRun | undefined {
    return this.#runs.get(messageId);
  }

  isRunning(messageId: string): boolean {
    return this.#runs.get(messageId)?.failure === undefined && this.#runs.has(messageId);
  }

  /** Resolves to true when the function did its work; a failure stands in `of` until the next run. */
  async run(action: FunctionAction, messageId: string): Promise<boolean> {
    if (this.isRunning(messageId)) {
      return false;
    }
    const abort = new AbortController();
    this.#aborts.set(messageId, abort);
    this.#runs.set(messageId, { action });
    try {
      await this.#change(await this.#call(action, messageId, abort.signal));
      this.#runs.delete(messageId);
      return true;
    } catch (error) {
      if (abort.signal.aborted) {
        this.#runs.delete(messageId);
      } else {
        this.#runs.set(messageId, { action, failure: (error as Error).message });
      }
      return false;
    } finally {
      this.#aborts.delete(messageId);
      this.#parts.onend(messageId);
    }
  }

  /** Stops the function, or takes its failure away. */
  end(messageId: string): void {
    this.#aborts.get(messageId)?.abort();
    this.#runs.delete(messageId);
  }

  async #call(action: FunctionAction, messageId: string, signal: AbortSignal): Promise<unknown> {
    const chat = this.#chat;
    await socket.connect();
    const messages = chat.branch.map((message) => ({
      id: message.id,
      role: message.role,
      content: textOf(message),
      ...(message.timestamp > 0 && { timestamp: message.timestamp }),
      ...(message.sources && { sources: message.sources }),
    }));
    const model = chat.message(messageId)?.model ?? chat.models[0] ?? "";
    return await server.call("POST /api/chat/actions/:action_id", {
      params: { action_id: action.id },
      body: { model, messages, id: messageId, chat_id: chat.id ?? null, session_id: socket.id ?? null },
      signal,
    });
  }

  /** A function changes messages by giving them back; the client stores them (contract 4.2). */
  async #change(answer: unknown): Promise<void> {
    for (const { id, content } of changedMessages(answer)) {
      const known = this.#chat.message(id);
      if (known && content !== textOf(known)) {
        await this.#parts.write(id, content);
      }
    }
  }
}
