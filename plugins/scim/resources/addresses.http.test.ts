import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { App } from "#test/support/app.ts";
import { refused, type ScimClient, scimClient, startScim } from "../scim.fixture.ts";

let app: App;
let provider: ScimClient;

beforeAll(async () => {
  app = await startScim();
  await app.admin();
  provider = scimClient(app.url);
});

afterAll(() => app?.close());

describe("a user", () => {
  it.each([
    ["no schemas", { schemas: undefined }],
    ["another schema", { schemas: ["urn:ietf:params:scim:schemas:core:2.0:Group"] }],
    [
      "two primary addresses",
      { emails: [1, 2].map((n) => ({ value: `two${n}@x.test`, type: `t${n}`, primary: true })) },
    ],
  ])("is refused with %s", async (_, more) => {
    const body = { userName: "refused@x.test", ...more };
    expect(refused(await provider.call("POST /Users", body))).toEqual([400, "invalidValue"]);
    const { id } = await provider.user(`${crypto.randomUUID()}@x.test`);
    expect(refused(await provider.call(`PUT /Users/${id}`, body))).toEqual([400, "invalidValue"]);
  });

  it("has no address that another account signs in with, wherever it stands", async () => {
    const person = await app.user();
    const other = await provider.user("gone@x.test");
    await provider.call(`DELETE /Users/${other.id}`);
    const { id } = await provider.user("own@x.test");
    for (const value of [person.email.toUpperCase(), "gone@x.test"]) {
      const emails = [
        { value: "own@x.test", primary: true },
        { value, type: "other" },
      ];
      const answers = [
        await provider.call("POST /Users", { userName: "second@x.test", emails }),
        await provider.call(`PUT /Users/${id}`, { userName: "own@x.test", emails }),
        await provider.patch(`/Users/${id}`, { op: "add", path: "emails", value: emails }),
        await provider.patch(`/Users/${id}`, { op: "add", path: 'emails[type eq "home"].value', value }),
      ];
      expect(answers.map(refused)).toEqual(answers.map(() => [409, "uniqueness"]));
    }
    const own = [
      { value: "own@x.test", primary: true },
      { value: "free@x.test", type: "home" },
    ];
    expect((await provider.call(`PUT /Users/${id}`, { userName: "own@x.test", emails: own })).status).toBe(
      200,
    );
    // Accounts made before stay, so that a provider can still switch them off.
    await app.running.database.query(
      `update "user" set scim = jsonb_build_object('emails', '[{"value": "${person.email}"}]'::jsonb) where id = '${id}'`,
    );
    expect((await provider.patch(`/Users/${id}`, { op: "replace", value: { active: false } })).status).toBe(
      200,
    );
  });
});
