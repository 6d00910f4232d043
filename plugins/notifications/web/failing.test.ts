import { expect, it } from "vitest";
import { toFailing } from "./failing.ts";
import type { Delivery } from "./webhooks.svelte.ts";

const delivery = (status: Delivery["status"], error: string | null = null) =>
  ({ id: `${status}-${error}`, status, last_error: error }) as Delivery;

it("a webhook fails while nothing arrived since its last failures", () => {
  const [waiting, failed, arrived] = [delivery("pending"), delivery("failed", "500"), delivery("delivered")];
  const retried = delivery("pending", "timeout");
  expect(toFailing([waiting, retried, failed, arrived, failed])).toEqual([retried, failed]);
  expect(toFailing([arrived, failed])).toEqual([]);
  expect(toFailing([waiting])).toEqual([]);
  expect(toFailing([])).toEqual([]);
});
