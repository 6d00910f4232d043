import { z } from "zod";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { defineRoute } from "#kernel/http/route.ts";
import type { Slot } from "#kernel/service.ts";
import type { GrantRow, Grants } from "#storage/grants.ts";
import type { AccountsDeps } from "../deps.ts";
import { requireRow } from "../require-row.ts";
import { findGroupNames } from "../groups/groups-store.ts";
import type { ExplainedResource } from "../service.ts";
import { findAccountFacts, toPrincipal } from "../sessions/principals.ts";
import { IdParams } from "../users/user-schema.ts";
import { findUser } from "../users/users-store.ts";

const Query = z.object({
  kind: z.enum(["model", "chat", "folder", "tool", "knowledge", "prompt", "skill", "calendar", "note"]),
  resource_id: z.string().min(1).max(1024).describe("Of a chat its own id or that of its link"),
});
const Permission = z.enum(["read", "write"]);
const Reason = z.object({
  rule: z.enum([
    "owner",
    "user_grant",
    "group_grant",
    "everybody_grant",
    "anyone_grant",
    "administrator",
    "open_to_all",
    "connection",
    "connection_group",
    "folder",
  ]),
  permission: Permission,
  name: z.string().nullable().describe("The group, connection or folder it goes through"),
  text: z.string(),
});
type Reason = z.output<typeof Reason>;
const Explanation = z.object({
  resource: z.object({
    kind: Query.shape.kind,
    id: z.string(),
    name: z.string(),
    owner: z.string().nullable(),
  }),
  is_waiting: z.boolean().describe("The account may do nothing until an administrator activates it"),
  may_read: z.boolean(),
  may_write: z.boolean(),
  reasons: z.array(Reason),
});

export interface ExplainParts extends Pick<AccountsDeps, "db" | "permissions"> {
  readonly grants: Pick<Grants, "list">;
  readonly resources: Slot<ExplainedResource>;
}

/** `GET /users/{id}/access`: whether an account can see a model, a shared chat or a folder, and why. */
export function explainRoute(parts: ExplainParts) {
  return defineRoute(
    {
      method: "GET",
      path: "/users/:id/access",
      summary: "Tell whether an account can see a model, shared chat or folder, and the rules that decide",
      access: "admin",
      params: IdParams,
      query: Query,
      returns: Explanation,
      fails: [404],
    },
    async ({ caller, params, query }) => {
      const { db, permissions, resources } = parts;
      const facts = requireRow(await findAccountFacts(db, params.id));
      const principal = toPrincipal(facts, permissions, { credential: "session", session: null });
      const source = resources.list().find(({ kind }) => kind === query.kind);
      const resource = await source?.find(caller, query.resource_id);
      if (source === undefined || resource === undefined) {
        throw new AppError("not_found", `There is no ${query.kind} of this id.`);
      }
      const { id, name, ownerId } = resource;
      const owner = ownerId === null ? undefined : await findUser(db, ownerId);
      const isWaiting = principal.role === "pending";
      const may = async (permission: "read" | "write") =>
        !isWaiting && (await source.may(principal, id, permission));
      return {
        resource: { kind: source.kind, id, name, owner: owner?.name ?? null },
        is_waiting: isWaiting,
        may_read: await may("read"),
        may_write: await may("write"),
        reasons: isWaiting ? [] : await findReasons(parts, { principal, source, id, ownerId }),
      };
    },
  );
}

interface Question {
  readonly principal: Principal;
  readonly source: ExplainedResource;
  readonly id: string;
  readonly ownerId: string | null;
}

async function findReasons(
  { db, grants }: ExplainParts,
  { principal, source, id, ownerId }: Question,
): Promise<Reason[]> {
  const names = await findGroupNames(db, principal.groupIds);
  const own = ownerId === principal.userId ? [toReason("owner", "write", null)] : [];
  const given = (await grants.list(source.grantType, [id])).flatMap((grant) => {
    const rule = findRule(grant, principal);
    const name = rule === "group_grant" ? (names.get(grant.principal_id) ?? grant.principal_id) : null;
    return rule === undefined ? [] : [toReason(rule, grant.permission, name)];
  });
  const others = await source.others(principal, id);
  return [
    ...own,
    ...given,
    ...others.map(({ rule, permission, name }) => toReason(rule, permission, name ?? null)),
  ];
}

function findRule(
  { principal_type: type, principal_id: id }: GrantRow,
  { userId, groupIds }: Principal,
): Reason["rule"] | undefined {
  if (type === "anyone") {
    return "anyone_grant";
  }
  if (type === "group") {
    return groupIds.includes(id) ? "group_grant" : undefined;
  }
  return id === "*" ? "everybody_grant" : id === userId ? "user_grant" : undefined;
}

const texts: Readonly<Record<Reason["rule"], string>> = {
  owner: "It is their own.",
  user_grant: "It is shared with this person.",
  group_grant: "It is shared with the group {name}, of which this person is a member.",
  everybody_grant: "It is shared with everybody who has an account.",
  anyone_grant: "It is shared with anyone who has the link.",
  administrator: "This person is an administrator.",
  open_to_all: "Access to models is not checked on this installation (BYPASS_MODEL_ACCESS_CONTROL).",
  connection: "Its connection offers models to everybody.",
  connection_group: "Its connection offers models to a group of which this person is a member.",
  folder: "It lies in a folder that this person can see.",
};

function toReason(rule: Reason["rule"], permission: "read" | "write", name: string | null): Reason {
  return { rule, permission, name, text: texts[rule].replace("{name}", name ?? "") };
}
