import { ApiError } from "../client.ts";
import { server } from "../server.ts";

interface TrialMessage {
  readonly role: "user" | "assistant";
  readonly content: string;
}

/** A conversation that is streamed from the completions route and stored nowhere. */
export class Trial {
  messages = $state.raw<readonly TrialMessage[]>([]);
  isRunning = $state(false);
  failure = $state<string>();
  readonly #modelId: string;
  readonly #extra: Readonly<Record<string, unknown>>;
  #control: AbortController | undefined;

  /** `extra` goes along with every request. */
  constructor(modelId: string, extra: Readonly<Record<string, unknown>> = {}) {
    this.#modelId = modelId;
    this.#extra = extra;
  }

  async ask(text: string): Promise<void> {
    const asked: readonly TrialMessage[] = [...this.messages, { role: "user", content: text }];
    this.messages = [...asked, { role: "assistant", content: "" }];
    this.failure = undefined;
    this.isRunning = true;
    this.#control = new AbortController();
    try {
      const { signal } = this.#control;
      const body = { ...this.#extra, model: this.#modelId, messages: asked, stream: true };
      const response = await server.open("POST /api/chat/completions", { body: body as never, signal });
      if (!response.ok) {
        throw new ApiError(response.status, await response.json().catch(() => null));
      }
      await this.#read(response, asked);
    } catch (error) {
      if (!this.#control.signal.aborted) {
        this.failure = (error as Error).message;
      }
    } finally {
      this.isRunning = false;
    }
  }

  stop(): void {
    this.#control?.abort();
  }

  async #read(response: Response, asked: readonly TrialMessage[]): Promise<void> {
    let content = "";
    for await (const event of events(response)) {
      const { choices, error } = JSON.parse(event) as {
        choices?: { delta?: { content?: string } }[];
        error?: { message?: string };
      };
      if (error) {
        throw new Error(error.message ?? event);
      }
      content += choices?.[0]?.delta?.content ?? "";
      this.messages = [...asked, { role: "assistant", content }];
    }
  }
}

/** The data of each event of a stream, without the closing word. */
async function* events(response: Response): AsyncGenerator<string> {
  const reader = (response.body as ReadableStream<Uint8Array<ArrayBuffer>>)
    .pipeThrough(new TextDecoderStream())
    .getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) {
      return;
    }
    const lines = (rest + value).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const data = line.startsWith("data:") ? line.slice(5).trim() : "";
      if (data !== "" && data !== "[DONE]") {
        yield data;
      }
    }
  }
}
