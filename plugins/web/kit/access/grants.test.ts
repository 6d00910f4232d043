import { expect, it } from "vitest";
import { audienceOf, type Grant, isSame, namedOf, withAudience, withNamed, withoutNamed } from "./grants.ts";

const ada: Grant = { principal_type: "user", principal_id: "ada", permission: "read" };
const editors: Grant = { principal_type: "group", principal_id: "editors", permission: "read" };

it("changes the audience and keeps who is named", () => {
  const open = withAudience([ada, editors], "anyone");
  expect(audienceOf(open)).toBe("anyone");
  const members = withAudience(open, "members");
  expect(audienceOf(members)).toBe("members");
  expect(members).toHaveLength(3);
  expect(namedOf(members)).toEqual([ada, editors]);
  expect(withAudience(members, "named")).toEqual([ada, editors]);
});

it("names somebody once, and takes nobody else away", () => {
  expect(withNamed([ada], "user", "ada")).toEqual([ada]);
  expect(withNamed([ada], "group", "editors")).toEqual([ada, editors]);
  expect(withoutNamed([ada, editors], "group", "ada")).toEqual([ada, editors]);
  expect(withoutNamed([ada, editors], "user", "ada")).toEqual([editors]);
});

it("sees which grants the server left out, in whatever order and with whatever else", () => {
  expect(isSame([ada, editors], [editors, { ...ada, id: 7 } as Grant])).toBe(true);
  expect(isSame([ada, editors], [ada])).toBe(false);
});
