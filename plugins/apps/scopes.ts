/** Scopes of apps: a key may do nothing that none of its scopes allows. */
export const scopes = ["messages:read", "messages:write", "reactions:write", "members:read"] as const;
export type Scope = (typeof scopes)[number];

/** Events that apps can be told of, by the scope that each needs; null for none. */
const scopeOfEvent = {
  "app.mentioned": null,
  "app.added": null,
  "app.removed": null,
  "channel.updated": null,
  "message.created": "messages:read",
  "message.updated": "messages:read",
  "message.deleted": "messages:read",
  "message.pinned": "messages:read",
  "message.unpinned": "messages:read",
  "reaction.added": "messages:read",
  "reaction.removed": "messages:read",
  "member.joined": "members:read",
  "member.left": "members:read",
} as const satisfies Readonly<Record<string, Scope | null>>;

export type AppEventName = keyof typeof scopeOfEvent;
export const appEvents = Object.keys(scopeOfEvent) as readonly AppEventName[];

export const neededScope = (event: AppEventName): Scope | null => scopeOfEvent[event];

interface Rule {
  readonly method: string;
  readonly path: RegExp;
  /** Null: every key may. */
  readonly scope: Scope | null;
}

const message = "/api/v1/channels/[\\w-]+/messages/[\\w-]+";
const rule = (method: string, path: string, scope: Scope | null): Rule => ({
  method,
  path: new RegExp(`^${path}/?$`),
  scope,
});

/** The routes of apps. What no rule names is closed to them, whatever other routes there will be. */
const rules: readonly Rule[] = [
  rule("GET", "/api/v1/apps/me", null),
  rule("GET", "/api/v1/channels(/list)?", null),
  rule("GET", "/api/v1/channels/[\\w-]+", null),
  rule("GET", "/api/v1/channels/[\\w-]+/members", "members:read"),
  rule("POST", "/api/v1/channels/[\\w-]+/messages/post", "messages:write"),
  rule("GET", "/api/v1/channels/[\\w-]+/messages", "messages:read"),
  rule("GET", message, "messages:read"),
  rule("GET", `${message}/(data|thread)`, "messages:read"),
  rule("POST", `${message}/update`, "messages:write"),
  rule("DELETE", `${message}/delete`, "messages:write"),
  rule("POST", `${message}/reactions/(add|remove)`, "reactions:write"),
  // Rooms carry every message of a channel.
  rule("GET", "/ws(/socket\\.io)?", "messages:read"),
];

/** Undefined for a request that is closed to apps; else the scope that it needs, null for none. */
export function scopeOfRequest(request: { method: string; path: string }): Scope | null | undefined {
  const method = request.method === "HEAD" ? "GET" : request.method;
  return rules.find((one) => one.method === method && one.path.test(request.path))?.scope;
}
