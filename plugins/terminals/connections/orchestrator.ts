import { z } from "zod";
import type { Egress } from "#kernel/egress/egress.ts";
import { AppError } from "#kernel/errors.ts";
import { toPlainUrl } from "#kernel/upstream/endpoint.ts";
import { StoredTerminal, toTerminal } from "./schema.ts";
import { ask, requireGood } from "./upstream.ts";

/** The server that an administrator works on; it need not be stored yet. */
const server = {
  url: z.string().trim().min(1).max(2048).transform(toPlainUrl),
  key: z.string().trim().max(8192).default(""),
  auth_type: z.enum(["bearer", "none"]).default("bearer"),
};
const PolicyId = z
  .string()
  .trim()
  .regex(/^(?!\.{1,2}$)[\w.@-]{1,200}$/, "may hold letters, digits, dots and dashes");
const Data = z.record(z.string(), z.unknown());

export const PolicyForm = z.object({ ...server, policy_id: PolicyId, policy_data: Data });
export const LifecycleForm = z.object({ ...server, policy_id: PolicyId, lifecycle_data: Data });
export const RefreshForm = z.object({
  ...server,
  policy_id: PolicyId.nullish(),
  user_id: z.string().min(1).max(200).nullish(),
  only_idle: z.boolean().default(true),
  reset: z.boolean().default(false),
});

/** Address and credential of an orchestrator. */
export type ServerForm = {
  readonly url: string;
  readonly key: string;
  readonly auth_type: "bearer" | "none";
};

const timeoutMs = 30_000;

/** An orchestrator's own API, as the platform speaks it (docs/terminals.md). */
export function createOrchestrator(egress: Egress) {
  async function call(
    form: ServerForm,
    request: { method: string; path: string; body: unknown },
  ): Promise<unknown> {
    const entry = StoredTerminal.parse({ ...form, id: "orchestrator", server_type: "orchestrator" });
    const terminal = toTerminal(entry);
    if (terminal.problem !== undefined) {
      throw new AppError("invalid", `${terminal.problem}.`);
    }
    const { method, path, body } = request;
    const answer = await ask(egress, terminal, { method, url: `${terminal.url}${path}`, body, timeoutMs });
    return requireGood(answer, "The orchestrator") ?? { status: true };
  }
  const policy = (id: string) => `/api/v1/policies/${encodeURIComponent(id)}`;
  return {
    putPolicy: ({ policy_id: id, policy_data: body, ...form }: z.output<typeof PolicyForm>) =>
      call(form, { method: "PUT", path: policy(id), body }),
    putLifecycle: ({ policy_id: id, lifecycle_data: body, ...form }: z.output<typeof LifecycleForm>) =>
      call(form, { method: "PUT", path: `${policy(id)}/lifecycle`, body }),
    refresh: ({ url, key, auth_type, ...body }: z.output<typeof RefreshForm>) =>
      call({ url, key, auth_type }, { method: "POST", path: "/api/v1/terminals/refresh", body }),
  };
}
