import { randomUUID } from "node:crypto";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { Json } from "#kernel/sandbox.ts";
import { toResultText } from "#kernel/tools/output.ts";
import { createInvoke, createTrialHost, toError, tryCode } from "#plugins/functions/service.ts";
import { toArguments } from "../calls/arguments.ts";
import { toOutput } from "../calls/to-output.ts";
import { toToolFacts } from "../facts/tool-facts.ts";
import { toScriptId, type ToolParts } from "../parts.ts";
import type { CheckResult, TrialForm, TrialResult } from "../schema.ts";

export interface TrialParts extends Pick<ToolParts, "sandbox" | "log" | "hostParts"> {
  limits(): { readonly callSeconds: number; readonly storageBytes: number };
}

/** Unsaved code: what it declares, and a call of it. Nothing of it is kept or sent. */
export function createTrial({ sandbox, log, hostParts, limits }: TrialParts) {
  const toScript = ({ userId }: Principal, source: string) => {
    const id = `trial_${randomUUID().replaceAll("-", "")}`;
    // An isolate of its own: what goes wrong here must not hurt the author's tools in use.
    return { id, script: { owner: `dry-run:${userId}`, id: toScriptId(id), source } };
  };
  const host = createTrialHost(hostParts, () => limits().storageBytes);

  return {
    async check(principal: Principal, content: string): Promise<CheckResult> {
      const { script } = toScript(principal, content);
      try {
        const { specs, description, capabilities, valves, userValves } = toToolFacts(
          await sandbox.load(script),
          content,
        );
        return {
          specs: specs.map(({ name, parallel, ...spec }) => ({
            name,
            description: spec.description,
            parameters: { ...spec.parameters },
            parallel: parallel === true,
          })),
          description,
          capabilities: { ...capabilities, fetch: [...capabilities.fetch] },
          valves: valves ? { ...valves.schema } : null,
          user_valves: userValves ? { ...userValves.schema } : null,
          error: null,
        };
      } catch (error) {
        return { ...nothing, error: toError(error, log) };
      } finally {
        sandbox.forget(script.id);
      }
    },

    async call(principal: Principal, form: TrialForm, signal: AbortSignal): Promise<TrialResult> {
      const { id, script } = toScript(principal, form.content);
      const { facts: _facts, ...outcome } = await tryCode(
        { sandbox, log, host },
        {
          principal,
          id,
          script,
          signal,
          read: (shape) => toToolFacts(shape, form.content),
          async run(facts, trialHost) {
            const spec = facts.specs.find(({ name }) => name === form.name);
            if (spec === undefined) {
              throw new AppError("invalid", `The code has no function "${form.name}".`);
            }
            const { valves, userValves } = facts;
            const own = userValves?.complete(userValves.check(form.user_valves ?? {})) ?? {};
            const code = {
              id,
              script,
              facts,
              valves: valves?.complete(valves.check(form.valves ?? {})) ?? {},
            };
            const invoke = createInvoke({
              sandbox,
              log,
              host: () => trialHost,
              userValves: { of: () => own },
              limits: () => ({ hookSeconds: limits().callSeconds, callSeconds: limits().callSeconds }),
            });
            const args = toArguments(spec, form.parameters);
            return await invoke.callLong(code, { name: spec.entry, args, facts: { principal }, signal });
          },
        },
      );
      return { ...outcome, ...toShown(outcome.error === null, outcome.result as Json) };
    },
  };
}

export type Trial = ReturnType<typeof createTrial>;

const nothing: Omit<CheckResult, "error"> = {
  specs: [],
  description: "",
  capabilities: { fetch: [], complete: false, storage: false },
  valves: null,
  user_valves: null,
};

/** The result as a reply would carry it. */
function toShown(isDone: boolean, result: Json): Pick<TrialResult, "text" | "files" | "embeds"> {
  if (!isDone) {
    return { text: null, files: [], embeds: [] };
  }
  const output = toOutput(result);
  return {
    text: toResultText(output),
    files: output.files.map(({ name, contentType, bytes }) => ({
      name,
      content_type: contentType,
      data: Buffer.from(bytes).toString("base64"),
    })),
    embeds: [...output.embeds],
  };
}
