import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { z } from "zod";
import type { OwnedRoute } from "#kernel/http/bind.ts";
import { type App, startApp } from "#test/support/app.ts";
import { openEgress } from "#test/support/egress.ts";
import { warmUp } from "./warm-up.ts";

let app: App;
const egress = openEgress();

beforeAll(async () => {
  app = await startApp();
});

afterAll(async () => {
  await egress.close();
  await app.close();
});

test("validators are used and requests sent before the first client comes", async () => {
  const body = z.object({ model: z.string() });
  const validate = vi.spyOn(body, "safeParse");
  const request = vi.spyOn(egress, "request");
  const route = { surface: "main", route: { body } } as unknown as OwnedRoute;
  await warmUp({ routes: [route, ...app.running.gathered.routes], egress, url: app.url, budgetMs: 2_000 });
  expect(validate).toHaveBeenCalledOnce();
  const [first] = await Promise.all(
    request.mock.results.map(({ value }) => value as Promise<{ status: number }>),
  );
  expect(first?.status).toBe(200);
});

test("a server that cannot call itself starts all the same", async () => {
  await expect(warmUp({ routes: [], egress, url: "http://127.0.0.1:9" })).resolves.toBeUndefined();
});
