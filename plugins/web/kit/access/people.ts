import { server } from "../server.ts";
import type { Grant } from "./grants.ts";

/** Somebody or some group that something can be shared with. */
export interface Party {
  readonly kind: "user" | "group";
  readonly id: string;
  readonly name: string;
  /** The address of a person, the description of a group. */
  readonly note: string;
  readonly picture?: string | null;
}

interface Person {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly profile_image_url?: string | null;
}

interface Group {
  readonly id: string;
  readonly name: string;
  readonly description?: string | null;
}

/** What of people and groups the caller may name. */
export interface PartyRights {
  readonly users: boolean;
  readonly groups: boolean;
}

/** People and groups whose name fits, groups first. */
export async function findParties(query: string, may: PartyRights, signal?: AbortSignal): Promise<Party[]> {
  const given = signal ? { signal } : {};
  const [groups, people] = await Promise.all([
    may.groups ? server.call("GET /api/v1/groups", { query: { share: "true" }, ...given }) : [],
    may.users
      ? server.call("GET /api/v1/users/search", {
          query: { query, order_by: "name", direction: "asc" },
          ...given,
        })
      : { users: [] },
  ]);
  const wanted = query.toLowerCase();
  return [
    ...(groups as Group[]).filter(({ name }) => name.toLowerCase().includes(wanted)).map(toParty),
    ...(people.users as Person[]).map(toPersonParty),
  ];
}

const known = new Map<string, Promise<Party>>();

/** Names those whom grants name; who is gone keeps the id. */
export function readParties(grants: readonly Grant[]): Promise<Party[]> {
  return Promise.all(grants.map((grant) => readParty(grant)));
}

function readParty({ principal_type: type, principal_id: id }: Grant): Promise<Party> {
  const key = `${type} ${id}`;
  const reading = known.get(key) ?? fetchParty(type === "group" ? "group" : "user", id);
  known.set(key, reading);
  return reading;
}

async function fetchParty(kind: Party["kind"], id: string): Promise<Party> {
  try {
    return kind === "user"
      ? toPersonParty((await server.call("GET /api/v1/users/:id/info", { params: { id } })) as Person)
      : toParty((await server.call("GET /api/v1/groups/id/:id/info", { params: { id } })) as Group);
  } catch {
    return { kind, id, name: id, note: "" };
  }
}

const toParty = ({ id, name, description }: Group): Party => ({
  kind: "group",
  id,
  name,
  note: description ?? "",
});

const toPersonParty = ({ id, name, email, profile_image_url: picture }: Person): Party => ({
  kind: "user",
  id,
  name,
  note: email,
  ...(picture ? { picture } : {}),
});
