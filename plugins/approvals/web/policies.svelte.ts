import { ApiError } from "#plugins/web/kit/client.ts";
import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { server } from "#plugins/web/kit/server.ts";
import { toasts } from "#plugins/web/kit/stores/toasts.svelte.ts";
import { tools } from "#plugins/web/kit/stores/tools.svelte.ts";

export type Policy = "auto" | "ask-after-untrusted" | "ask" | "deny";
/** `default`: as the tool itself and the rule for all others say. */
export type Choice = Policy | "default";

const variable = "TOOL_APPROVAL_POLICY";

/** The rules about calls of tools, and the way to change them. */
export class Policies {
  rules = $state.raw<Readonly<Record<string, Policy>>>({});
  state = $state<"loading" | "ready" | "failed">("loading");
  failure = $state<string>();
  /** Why they cannot be changed here. */
  locked = $state<string>();
  #version = 0;

  async load(): Promise<void> {
    try {
      const all = await server.call("GET /api/v1/configs/settings");
      this.#take(all);
      await tools.refresh();
      this.failure = tools.failure;
      this.state = tools.state === "failed" ? "failed" : "ready";
    } catch (error) {
      this.failure = (error as Error).message;
      this.state = "failed";
    }
  }

  choiceOf(key: string): Choice {
    return (Object.hasOwn(this.rules, key) ? this.rules[key] : undefined) ?? "default";
  }

  /** Stores at once, with ten seconds in which it can be taken back. */
  async choose(key: string, choice: Choice): Promise<void> {
    const before = this.rules;
    if (await this.#store(withRule(before, key, choice))) {
      toasts.show({
        kind: "good",
        text: t("Saved. It counts for the next call."),
        seconds: 10,
        action: { title: t("Undo"), run: () => void this.#store(before) },
      });
    }
  }

  async #store(rules: Readonly<Record<string, Policy>>): Promise<boolean> {
    const before = this.rules;
    this.rules = rules;
    try {
      const change = { name: variable, value: rules, version: this.#version };
      this.#take(await server.call("PATCH /api/v1/configs/settings", { body: { changes: [change] } }));
      await tools.refresh();
      return true;
    } catch (error) {
      this.rules = before;
      const isOutdated = error instanceof ApiError && error.status === 409;
      toasts.fail(
        error,
        isOutdated
          ? t("Somebody else changed the rules meanwhile. These are theirs; choose again.")
          : undefined,
      );
      if (isOutdated) {
        await this.load();
      }
      return false;
    }
  }

  #take(all: Awaited<ReturnType<typeof readAll>>): void {
    const found = all.find(({ name }) => name === variable);
    this.rules = (found?.value ?? {}) as Readonly<Record<string, Policy>>;
    this.#version = found?.version ?? 0;
    this.locked = found?.locked ?? undefined;
  }
}

const readAll = () => server.call("GET /api/v1/configs/settings");

function withRule(
  rules: Readonly<Record<string, Policy>>,
  key: string,
  choice: Choice,
): Record<string, Policy> {
  const { [key]: _, ...others } = rules;
  return choice === "default" ? others : { ...others, [key]: choice };
}
