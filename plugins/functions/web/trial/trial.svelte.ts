import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { FormState } from "#plugins/web/kit/form.svelte.ts";
import { server } from "#plugins/web/kit/server.ts";
import type { DryRun, Hook } from "../functions.ts";
import { sampleBody, type StoredMessage, toBranch, toTurn } from "./sample-bodies.ts";

type Bag = Readonly<Record<string, unknown>>;

/** One trial of the code that is typed: hook, sample, values of its valves, and what came of it. */
export class Trial {
  hook = $state<Hook>("inlet");
  /** What was typed, by hook. */
  bodies = $state<Partial<Record<Hook, string>>>({});
  valves = $state.raw<Bag>();
  userValves = $state.raw<Bag>({});
  /** What the last inlet left for the hooks after it. */
  notes = $state.raw<Bag>();
  result = $state.raw<DryRun>();
  /** What the hook was given in the run that `result` is of. */
  given = $state.raw<{ readonly hook: Hook; readonly body: unknown }>();
  bodyError = $state<string>();
  readonly form = new FormState();

  /** Keeps to a hook that the code has. */
  follow(hooks: readonly string[]): void {
    if (hooks.length > 0 && !hooks.includes(this.hook)) {
      this.choose(hooks[0] as Hook);
    }
  }

  choose(hook: Hook): void {
    this.hook = hook;
    this.bodyError = undefined;
  }

  get body(): string {
    return this.bodies[this.hook] ?? JSON.stringify(sampleBody(this.hook), null, 2);
  }

  set body(text: string) {
    this.bodies = { ...this.bodies, [this.hook]: text };
  }

  /** Runs the hook on what was typed; nothing of it is stored or sent. */
  async run(content: string): Promise<void> {
    let body: unknown;
    try {
      body = JSON.parse(this.body);
      this.bodyError = undefined;
    } catch (error) {
      this.bodyError = t("This is no JSON: {reason}", { reason: (error as Error).message });
      return;
    }
    const hook = this.hook;
    await this.form.submit(async () => {
      this.result = await server.call("POST /api/v1/functions/dry-run", {
        body: {
          content,
          hook,
          body,
          ...(this.valves ? { valves: { ...this.valves } } : {}),
          user_valves: { ...this.userValves },
          ...(hook === "inlet" || !this.notes ? {} : { metadata: { ...this.notes } }),
        },
      });
      this.given = { hook, body };
      const left = hook === "inlet" ? (this.result.result as { metadata?: Bag } | null)?.metadata : undefined;
      this.notes = hook === "inlet" ? left : this.notes;
    });
  }

  /** Takes the last turn of a stored chat as the sample. */
  async takeChat(id: string): Promise<void> {
    await this.form.submit(async () => {
      const { chat } = (await server.call("GET /api/v1/chats/:id", { params: { id } })) as unknown as {
        chat: { history?: { currentId?: string | null; messages?: Readonly<Record<string, StoredMessage>> } };
      };
      const { currentId, messages = {} } = chat.history ?? {};
      const branch = toBranch(messages, currentId ?? "");
      this.body = JSON.stringify(toTurn(this.hook, branch, id), null, 2);
    });
  }
}
