import type { WireMessage } from "./message-fields.ts";
import type { TreePlan } from "./plan-tree.ts";
import { isRole } from "./sent-tree.ts";

type Bag = Readonly<Record<string, unknown>>;
type Inserts = TreePlan["inserts"];

/** New messages that come from elsewhere, as they can be stored: each has a role, and nobody is writing them. */
export function normalizeMessages(inserts: Inserts): Inserts {
  const roles = toRoles(inserts);
  return inserts.map(({ sent, ...place }) => {
    const message = toSettled({ ...sent.message, role: roles.get(sent.id) });
    return { ...place, sent: { ...sent, message } };
  });
}

/**
 * A message where no run will ever go on with it: it is done, its items are as complete as they will be, and nobody
 * waits for an approval any more. The very same when it is so already.
 */
export function toSettled(message: WireMessage): WireMessage {
  const { role, done, output } = message;
  const isOpen = done === false || (done === undefined && role === "assistant");
  const items: unknown[] = Array.isArray(output) ? output : [];
  if (!isOpen && !items.some(isGrowing)) {
    return message;
  }
  return {
    ...message,
    ...(isOpen ? { done: true } : {}),
    ...(items.some(isGrowing)
      ? { output: items.map((item) => (isGrowing(item) ? toCompleted(item) : item)) }
      : {}),
  };
}

function isGrowing(item: unknown): item is Bag {
  const { status } = (item ?? {}) as Bag;
  return status === "in_progress" || status === "pending";
}

function toCompleted(item: Bag): Bag {
  const isAsked = ((item["approval"] ?? {}) as Bag)["status"] === "pending";
  return { ...item, status: "completed", ...(isAsked ? { approval: { status: "cancelled" } } : {}) };
}

/** A message without a known role is a reply below a question, and a question elsewhere. */
function toRoles(inserts: Inserts): Map<string, string> {
  const byId = new Map(inserts.map((one) => [one.sent.id, one]));
  const roles = new Map<string, string>();
  for (const { sent } of inserts) {
    if (isRole(sent.message["role"])) {
      roles.set(sent.id, sent.message["role"]);
    }
  }
  for (const one of inserts) {
    const open: Inserts[number][] = [];
    for (let at: Inserts[number] | undefined = one; at && !roles.has(at.sent.id);) {
      open.push(at);
      at = at.parentId === null ? undefined : byId.get(at.parentId);
    }
    for (const { sent, parentId } of open.toReversed()) {
      roles.set(sent.id, parentId !== null && roles.get(parentId) === "user" ? "assistant" : "user");
    }
  }
  return roles;
}
