import type { ChunkBatch } from "#kernel/completion/provider.ts";

/** Told how a reply of an agent grows. */
export interface RunListener {
  /** The agent has begun: what was wrong with the request would have been told by now. */
  began(): void;
  text(text: string): void;
  reasoning(text: string): void;
  /** A tool is called. */
  tool(title: string, subject: string): void;
}

/** Clients of this process that wait for a reply, by the id of its message. */
export class RunListeners {
  readonly #listeners = new Map<string, RunListener>();

  /** Returns what removes it. */
  add(messageId: string, listener: RunListener): () => void {
    this.#listeners.set(messageId, listener);
    return () => void this.#listeners.delete(messageId);
  }

  of(messageId: string): RunListener | undefined {
    return this.#listeners.get(messageId);
  }
}

/** Passes the texts of chunks on. */
export function tellChunks(batch: ChunkBatch, listener: RunListener | undefined): void {
  if (listener === undefined) {
    return;
  }
  for (const chunk of batch) {
    const delta = chunk.choices?.[0]?.delta;
    const reasoning = delta?.["reasoning_content"] ?? delta?.["reasoning"];
    if (typeof reasoning === "string" && reasoning !== "") {
      listener.reasoning(reasoning);
    }
    if (typeof delta?.content === "string" && delta.content !== "") {
      listener.text(delta.content);
    }
  }
}
