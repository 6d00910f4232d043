import { expect, it } from "vitest";
import { toActs, toGrantChange, toPeople } from "./acts.ts";
import type { AuditRecord } from "./records.ts";

const record = (id: number, request: string | null) => ({ id, request_id: request }) as AuditRecord;
const grant = (type: string, id: string, permission = "read") => ({
  principal_type: type,
  principal_id: id,
  permission,
});

it("what one request did is one act", () => {
  const acts = toActs([record(5, "b"), record(4, "b"), record(3, "a"), record(2, null), record(1, null)]);
  expect(acts.map(({ id, records }) => [id, records.length])).toEqual([
    [5, 2],
    [3, 1],
    [2, 1],
    [1, 1],
  ]);
});

it("a change of grants alone says who was let in and who no longer", () => {
  expect(
    toGrantChange({
      before: { access_grants: [grant("user", "*")] },
      after: { access_grants: [grant("group", "g"), grant("group", "g", "write")] },
    }),
  ).toEqual({ given: [{ kind: "group", id: "g" }], taken: [{ kind: "everyone", id: "*" }] });
  expect(
    toGrantChange({ before: { name: "a", access_grants: [] }, after: { name: "b", access_grants: [] } }),
  ).toBeUndefined();
  expect(toGrantChange({ before: null, after: { name: "b" } })).toBeUndefined();
});

it("people are those that a record of a group names", () => {
  expect(toPeople({ before: null, after: { user_ids: ["u", "v"] } })).toEqual(["u", "v"]);
  expect(toPeople({ before: null, after: null })).toEqual([]);
});
