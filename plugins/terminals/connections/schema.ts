import { z } from "zod";
import { GrantInputs } from "#kernel/access/grant-inputs.ts";
import { toPlainUrl } from "#kernel/upstream/endpoint.ts";

/** Where a terminal may be used: everywhere, in a scope of its own, or nowhere (Core API, terminal entry). */
const contextOf = <const K extends string>(key: K) =>
  z.union([z.literal(false), z.strictObject({}), z.strictObject({ context_id: z.literal(key) })]);

export const Contexts = z.looseObject({
  chat: contextOf("chat_id").optional(),
  automation: contextOf("automation_id").optional(),
});
export type Contexts = z.output<typeof Contexts>;

/** One entry of TERMINAL_SERVER_CONNECTIONS (contract §5.3); unknown keys are kept. */
export const StoredTerminal = z.looseObject({
  id: z
    .string()
    .trim()
    .regex(/^(?!\.{1,2}$)[\w.@-]{1,100}$/, "may hold letters, digits, dots, dashes and @, at most 100"),
  name: z.string().trim().max(200).default(""),
  enabled: z.boolean().default(true),
  url: z.string().trim().min(1).max(2048).transform(toPlainUrl),
  /** Of its OpenAPI document, below the address. */
  path: z.string().trim().max(2048).default("/openapi.json"),
  key: z.string().trim().max(8192).default(""),
  auth_type: z.enum(["bearer", "none"]).default("bearer"),
  server_type: z.enum(["terminal", "orchestrator"]).nullish(),
  policy_id: z.string().trim().max(200).nullish(),
  config: z.looseObject({ access_grants: GrantInputs.nullish(), contexts: Contexts.nullish() }).default({}),
});
export type StoredTerminal = z.output<typeof StoredTerminal>;

export const StoredTerminals = z.array(StoredTerminal).max(100);

/** A connection ready to be used. */
export interface Terminal {
  readonly id: string;
  readonly name: string;
  readonly url: string;
  readonly path: string;
  readonly key: string;
  readonly isEnabled: boolean;
  /** Undefined where the server is no orchestrator: then it may be used everywhere. */
  readonly contexts: Contexts | undefined;
  readonly isOrchestrator: boolean;
  readonly policyId: string | undefined;
  readonly grants: z.output<typeof GrantInputs>;
  /** Why it cannot be used although it is switched on. */
  readonly problem: string | undefined;
}

/** The connection that an entry comes to. */
export function toTerminal(stored: StoredTerminal): Terminal {
  const { id, name, url, path, key, enabled, server_type: type, policy_id: policy, config } = stored;
  const isOrchestrator = type === "orchestrator";
  return {
    id,
    name: name || id,
    url,
    path: path || "/openapi.json",
    key: stored.auth_type === "bearer" ? key : "",
    isEnabled: enabled,
    contexts: isOrchestrator ? (config.contexts ?? {}) : undefined,
    isOrchestrator,
    policyId: isOrchestrator ? policy || undefined : undefined,
    grants: config.access_grants ?? [],
    problem: findProblem(stored),
  };
}

/** What is wrong with an entry, in words for an administrator. */
export function findProblem({ url, path, policy_id: policy }: StoredTerminal): string | undefined {
  const address = URL.parse(url);
  if (address === null || !/^https?:$/.test(address.protocol)) {
    return "url is no http or https address";
  }
  if (address.search !== "" || address.hash !== "") {
    return "url may not have a query or a fragment";
  }
  const document = URL.parse(path.replace(/^\/+/, ""), `${url}/`);
  if (document === null || document.origin !== address.origin) {
    return "path leads to another server";
  }
  return policy && !/^[\w.@-]+$/.test(policy)
    ? "policy_id may hold letters, digits, dots and dashes"
    : undefined;
}
