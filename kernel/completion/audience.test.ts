import { expect, test } from "vitest";
import { type Audience, isAmong, toCommonAudience } from "./audience.ts";

const caller = (role: "admin" | "user" | "pending", ...groupIds: string[]) => ({ role, groupIds });
const millers: Audience = { groups: ["millers", "bakers"] };

test("administrators belong to every audience, others to theirs", () => {
  const audiences: readonly Audience[] = ["admins", millers, "everyone"];
  const among = (who: ReturnType<typeof caller>) => audiences.map((audience) => isAmong(audience, who));
  expect(among(caller("admin"))).toEqual([true, true, true]);
  expect(among(caller("user"))).toEqual([false, false, true]);
  expect(among(caller("user", "bakers"))).toEqual([false, true, true]);
  expect(isAmong(millers, caller("pending", "bakers"))).toBe(false);
});

test("two audiences have in common who belongs to both", () => {
  expect(toCommonAudience("everyone", millers)).toBe(millers);
  expect(toCommonAudience(millers, "admins")).toBe("admins");
  expect(toCommonAudience(millers, { groups: ["bakers", "smiths"] })).toEqual({ groups: ["bakers"] });
});
