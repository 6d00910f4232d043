import { expect, it } from "vitest";
import { createByteLimit, createConcurrencyLimit } from "./account-limits.ts";

it("an account has so many things under way at once, whatever others do", () => {
  let most = 2;
  const limit = createConcurrencyLimit({ limit: () => most, what: "imports" });
  const [first, second] = [limit.enter("anna"), limit.enter("anna")];
  expect(() => limit.enter("anna")).toThrow("You have 2 imports under way already. Wait for one to end.");
  expect(() => limit.require("anna")).toThrow();
  limit.enter("ben");
  first();
  first();
  limit.enter("anna");
  expect(() => limit.require("anna")).toThrow();
  second();
  limit.require("anna");
  most = 0;
  Array.from({ length: 10 }, () => limit.enter("anna"));
});

it("an account uses so many bytes a minute, and learns when there is room again", () => {
  let [now, most] = [1_000, 100];
  const limit = createByteLimit({ limit: () => most, what: "copies", now: () => now });
  limit.take("anna", 60);
  now += 10_000;
  limit.take("anna", 40);
  const refused = { code: "rate_limited", message: "Your copies take more than 100 bytes a minute." };
  const take = (bytes: number) => {
    try {
      limit.take("anna", bytes);
      return undefined;
    } catch (error) {
      return error;
    }
  };
  expect(take(1)).toMatchObject({ ...refused, retryAfter: 50 });
  expect(take(61)).toMatchObject({ ...refused, retryAfter: 60 });
  limit.take("ben", 100);
  now += 50_000;
  expect(take(60)).toBeUndefined();
  expect(take(1)).toMatchObject(refused);
  now += 60_000;
  // More than a minute holds is possible where nothing else was used.
  expect(take(1_000)).toBeUndefined();
  expect(take(1)).toMatchObject(refused);
  most = 0;
  expect(take(1_000_000)).toBeUndefined();
});
