import { scimPatch } from "scim-patch";
import { expect, it } from "vitest";
import type { UserState } from "../resources/state.ts";
import { applyPatch } from "./apply.ts";
import { readOperations } from "./operations.ts";

// 1,000 random sequences of operations: the same state as scim-patch makes of them. Left out is what contract D.27 and
// RFC 7644 decide otherwise than that library: it compares filters by case, keeps a second primary value, appends equal
// addresses that differ in other parts, creates parts by `replace` on a filter that fits nothing, and ignores unknown paths.

const patchSchema = "urn:ietf:params:scim:api:messages:2.0:PatchOp";

function createRandom(seed: number) {
  let state = seed;
  return (below: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const random = createRandom(44);
const pick = <T>(of: readonly T[]): T => of[random(of.length)] as T;
const op = (name: string) => pick([name, name[0]?.toUpperCase() + name.slice(1)]);
const text = () => `t${random(1000)}`;
let unique = 0;

function operation(types: Set<string>): object {
  const single = pick(["displayName", "externalId", "name.givenName", "name.familyName", "name.formatted"]);
  const type = pick([...types]);
  switch (random(9)) {
    case 0:
      return { op: op("add"), path: single, value: text() };
    case 1:
      return { op: op("replace"), path: single, value: text() };
    case 2:
      return { op: op("replace"), path: "active", value: random(2) === 0 };
    case 3:
      return { op: op("replace"), value: { displayName: text(), active: random(2) === 0 } };
    case 4:
      return { op: op("replace"), value: { "name.givenName": text(), externalId: text() } };
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

it("1,000 random sequences end as scim-patch ends them", () => {
  for (let count = 0; count < 1000; count++) {
    const state: UserState = {
      userName: "a@x.test",
      displayName: "A",
      name: { givenName: "A", familyName: "B" },
      emails: [{ value: "a@x.test", type: "work", primary: true }],
      active: true,
    };
    const types = new Set(["work"]);
    const Operations = Array.from({ length: 1 + random(8) }, () => operation(types));
    const resource = {
      schemas: [],
      meta: { resourceType: "User", created: new Date(0), lastModified: new Date(0), location: "" },
      ...structuredClone(state),
    };
    const {
      schemas: _s,
      meta: _m,
      ...expected
    } = scimPatch(resource as never, structuredClone(Operations) as never, {
      mutateDocument: false,
    }) as unknown as UserState & { schemas: unknown; meta: unknown };
    const actual = applyPatch(
      "User",
      { id: "1", state },
      readOperations({ schemas: [patchSchema], Operations }),
    );
    expect({ Operations, state: actual }).toEqual({ Operations, state: expected });
  }
});
