import { server } from "#plugins/web/kit/server.ts";
import { type Draft, keyOf, type Stored, toConfig } from "./draft.ts";

/** What a test of an upstream found. */
export interface Found {
  readonly ms: number;
  readonly models: readonly string[];
  /** Of a local runtime. */
  readonly version?: string;
}

/** A test of what was typed: the upstream is asked now, in the words of the draft, and nothing is stored. */
export class Trial {
  busy = $state(false);
  /** Seconds since the test began. */
  seconds = $state(0);
  found = $state.raw<Found>();
  failure = $state<string>();

  async run(draft: Draft, stored: Stored | undefined): Promise<void> {
    this.forget();
    this.busy = true;
    this.seconds = 0;
    const startedAt = performance.now();
    const timer = setInterval(() => (this.seconds += 1), 1000);
    try {
      const found = await ask(draft, stored);
      this.found = { ...found, ms: Math.round(performance.now() - startedAt) };
    } catch (error) {
      this.failure = (error as Error).message;
    } finally {
      clearInterval(timer);
      this.busy = false;
    }
  }

  /** What was tried no longer counts once something was changed. */
  forget(): void {
    this.found = undefined;
    this.failure = undefined;
  }
}

async function ask(draft: Draft, stored: Stored | undefined): Promise<Omit<Found, "ms">> {
  const body = { url: draft.url.trim(), key: keyOf(draft, stored) };
  if (draft.kind === "runtime") {
    const { version } = await server.call("POST /runtime/verify", { body });
    return { models: [], version };
  }
  const answer = (await server.call("POST /compat/verify", {
    body: { ...body, config: toConfig(draft, stored) },
  })) as {
    readonly data?: readonly { readonly id: string }[];
  };
  return { models: (answer.data ?? []).map(({ id }) => id) };
}
