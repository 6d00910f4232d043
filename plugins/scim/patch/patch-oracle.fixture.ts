import { scimPatch } from "scim-patch";
import { expect } from "vitest";
import { createRandom, type Random } from "../random.fixture.ts";
import type { UserState } from "../resources/state.ts";
import type { ScimClient } from "../scim.fixture.ts";

// Left out is what contract D.27 and RFC 7644 decide otherwise than scim-patch: it compares filters by case, keeps a second
// primary value, appends equal addresses that differ in other parts, creates parts by `replace` on a filter that fits
// nothing, and ignores unknown paths.

/** Random operations on a user, with the types of the addresses that it has after them. */
export function randomOperations(random: Random, person: PatchedPerson): object[] {
  return Array.from({ length: 1 + random.below(8) }, () => randomOperation(random, person));
}

export interface PatchedPerson {
  /** Types of the addresses, kept up to date. */
  readonly types: Set<string>;
  /** Begins external ids, which belong to one user each. */
  readonly prefix: string;
}

let unique = 0;

function randomOperation({ below, pick }: Random, { types, prefix }: PatchedPerson): object {
  const op = (name: string) => pick([name, name[0]?.toUpperCase() + name.slice(1)]);
  const text = () => `t${below(1000)}`;
  const single = pick(["displayName", "externalId", "name.givenName", "name.familyName", "name.formatted"]);
  const type = pick([...types]);
  const value = single === "externalId" ? `${prefix}${text()}` : text();
  switch (below(9)) {
    case 0:
      return { op: op("add"), path: single, value };
    case 1:
      return { op: op("replace"), path: single, value };
    case 2:
      return { op: op("replace"), path: "active", value: below(2) === 0 };
    case 3:
      return { op: op("replace"), value: { displayName: text(), active: below(2) === 0 } };
    case 4:
      return { op: op("replace"), value: { "name.givenName": text(), externalId: `${prefix}${text()}` } };
    case 5:
      return { op: op("add"), path: "name", value: { givenName: text() } };
    case 6: {
      const fresh = `type${(unique += 1)}`;
      types.add(fresh);
      return { op: op("add"), path: "emails", value: [{ value: text(), type: fresh }] };
    }
    case 7:
      return { op: op("replace"), path: `emails[type eq "${type}"].value`, value: text() };
    default:
      if (types.size < 2) {
        return { op: op("replace"), path: `emails[type eq "${type}"].display`, value: text() };
      }
      types.delete(type);
      return { op: op("remove"), path: `emails[type eq "${type}"]` };
  }
}

/** The state that scim-patch makes of a state and operations. */
export function patchAsScimPatch(state: UserState, operations: readonly object[]): UserState {
  const resource = {
    schemas: [],
    meta: { resourceType: "User", created: new Date(0), lastModified: new Date(0), location: "" },
    ...structuredClone(state),
  };
  const {
    schemas: _schemas,
    meta: _meta,
    ...patched
  } = scimPatch(resource as never, structuredClone(operations) as never, {
    mutateDocument: false,
  }) as unknown as UserState & { schemas: unknown; meta: unknown };
  return patched;
}

/** A user with parts of every kind; its address has a name, so that it is more than the login address. */
export function startState(userName: string): UserState {
  return {
    userName,
    displayName: "A",
    name: { givenName: "A", familyName: "B" },
    emails: [{ value: userName, type: "work", primary: true, display: "Work" }],
    active: true,
  };
}

/** Users of one trial: each goes on with what its earlier sequences left. */
const people = 20;

/**
 * Sends random PATCH requests to a server and compares the users that it answers and stores with what scim-patch makes of
 * them. Resolves to how many operations were sent.
 */
export async function comparePatches(
  provider: ScimClient,
  { seed, count }: { seed: number; count: number },
): Promise<number> {
  const random = createRandom(seed);
  const known: (PatchedPerson & { path: string; state: UserState })[] = [];
  for (let index = 0; index < Math.min(people, count); index++) {
    const { userName, ...state } = startState(`patched${index}.${seed}@x.test`);
    const { id } = await provider.user(userName, state);
    const person = { types: new Set(["work"]), prefix: `${index}.${seed}.` };
    known.push({ ...person, path: `/Users/${id}`, state: { userName, ...state } });
  }
  let sent = 0;
  for (let at = 0; at < count; at++) {
    const person = random.pick(known);
    const operations = randomOperations(random, person);
    person.state = patchAsScimPatch(person.state, operations);
    sent += operations.length;
    const answer = await provider.patch(person.path, ...operations);
    expect({ seed, at, operations, status: answer.status, state: toState(answer.body) }).toEqual({
      seed,
      at,
      operations,
      status: 200,
      state: person.state,
    });
  }
  for (const { path, state } of known) {
    expect(toState((await provider.call(`GET ${path}`)).body)).toEqual(state);
    expect((await provider.call(`DELETE ${path}`)).status).toBe(204);
  }
  return sent;
}

/** What a provider can write of the resource. */
function toState(resource: Record<string, unknown>): Record<string, unknown> {
  const { schemas: _schemas, id: _id, meta: _meta, groups: _groups, ...state } = resource;
  return state;
}
