import { expect, it } from "vitest";
import { createRandom } from "../random.fixture.ts";
import { applyPatch } from "./apply.ts";
import { readOperations } from "./operations.ts";
import { patchAsScimPatch, randomOperations, startState } from "./patch-oracle.fixture.ts";

// The same over HTTP, on both kinds of database, stands in test/faults/server/scim-oracles.test.ts.

const patchSchema = "urn:ietf:params:scim:api:messages:2.0:PatchOp";

it("1,000 random sequences end as scim-patch ends them", () => {
  const random = createRandom(44);
  for (let count = 0; count < 1000; count++) {
    const state = startState("a@x.test");
    const operations = randomOperations(random, { types: new Set(["work"]), prefix: "" });
    const actual = applyPatch(
      "User",
      { id: "1", state },
      readOperations({ schemas: [patchSchema], Operations: operations }),
    );
    expect({ operations, state: actual }).toEqual({
      operations,
      state: patchAsScimPatch(startState("a@x.test"), operations),
    });
  }
});
