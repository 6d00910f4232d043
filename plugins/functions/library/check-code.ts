import { randomUUID } from "node:crypto";
import type { Principal } from "#kernel/access/principal.ts";
import type { Logger } from "#kernel/log.ts";
import type { Sandbox } from "#kernel/sandbox.ts";
import { toFacts } from "../calls/facts.ts";
import { toScriptId } from "../calls/load.ts";
import type { CheckResult } from "../schema.ts";
import { toError } from "./dry-run.ts";

const callable = ["pipe", "pipes", "inlet", "stream", "outlet", "action", "event"];

/** Loads unsaved code and answers what it declares, or where it fails; nothing of it is called or kept. */
export function createCheck({ sandbox, log }: { readonly sandbox: Sandbox; readonly log: Logger }) {
  return async (principal: Principal, content: string): Promise<CheckResult> => {
    const id = toScriptId(`check_${randomUUID().replaceAll("-", "")}`);
    const script = { owner: `dry-run:${principal.userId}`, id, source: content };
    try {
      const facts = toFacts(await sandbox.load(script));
      const { type, exports, description, priority = null, toggle, capabilities, valves, userValves } = facts;
      return {
        type,
        hooks: callable.filter((name) => exports.has(name)),
        description,
        priority,
        toggle,
        capabilities: { ...capabilities, fetch: [...capabilities.fetch] },
        valves: valves ? { ...valves.schema } : null,
        user_valves: userValves ? { ...userValves.schema } : null,
        error: null,
      };
    } catch (error) {
      return { ...nothing, error: toError(error, log) };
    } finally {
      sandbox.forget(id);
    }
  };
}

const nothing: Omit<CheckResult, "error"> = {
  type: null,
  hooks: [],
  description: "",
  priority: null,
  toggle: false,
  capabilities: { fetch: [], complete: false, storage: false },
  valves: null,
  user_valves: null,
};

export type Check = ReturnType<typeof createCheck>;
