import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { BootError } from "#kernel/order.ts";
import type { AnyPlugin } from "#kernel/plugin.ts";
import type { OptionalRef, ServiceRef, SlotRef } from "#kernel/service.ts";
import { catalogue } from "#plugins/catalogue.ts";
import { type App, startApp } from "#test/support/app.ts";
import { nameOf, probe } from "#test/support/probe.ts";
import type { OwnedRoute } from "#kernel/http/bind.ts";

// A hundred starts tell nothing about a database, and those on the server are the shortest.
const database = "server";

let app: App | undefined;

afterEach(async () => {
  await app?.close();
  app = undefined;
});

type Ref = ServiceRef<unknown> | OptionalRef<unknown> | SlotRef<unknown>;

/** The plugins that cannot be without `plugin`, each with the service it misses. */
function findDependents(plugin: AnyPlugin): { id: string; service: string }[] {
  const provided = ((plugin.provides ?? []) as ServiceRef<unknown>[]).map(({ id }) => id);
  return catalogue.flatMap(({ id, uses }) =>
    Object.values((uses ?? {}) as Record<string, Ref>)
      .filter((ref) => ref.kind === "service" && provided.includes(ref.id))
      .map((ref) => ({ id, service: (ref as ServiceRef<unknown>).id })),
  );
}

let routes: readonly OwnedRoute[];
beforeAll(async () => {
  const running = await startApp({ database });
  ({ routes } = running.running.gathered);
  await running.close();
});

// Every plugin of the catalogue, one after another.
describe.each(catalogue.map((plugin) => [plugin.id, plugin] as const))("without %s", (id, plugin) => {
  const dependents = findDependents(plugin);
  // Every request needs the authenticator.
  const authenticates = ((plugin.provides ?? []) as ServiceRef<unknown>[]).some(
    (ref) => ref.id === "authenticator",
  );

  if (dependents.length > 0) {
    test("the start is refused, naming who misses what", async () => {
      const failure = await startApp({ database, env: { PLUGINS_DISABLED: id } }).then(
        (running) => running.close(),
        (error: unknown) => error,
      );
      expect(failure).toBeInstanceOf(BootError);
      const { message } = failure as BootError;
      expect(
        dependents.some((one) => message.includes(one.id) && message.includes(one.service)),
        message,
      ).toBe(true);
    });

    test("and without all who need it the platform starts, unless nobody authenticates", async () => {
      const disabled = [...new Set([id, ...closure(plugin)])].join(",");
      const start = startApp({ database, env: { PLUGINS_DISABLED: disabled } });
      if (authenticates) {
        await expect(start).rejects.toThrow("authenticator");
        return;
      }
      app = await start;
      expect(app.running.gathered.plugins.map((entry) => entry.plugin.id)).not.toContain(id);
    });
  } else {
    test("the platform starts, and its routes are not there", async () => {
      const own = routes.filter((owned) => owned.plugin === id);
      app = await startApp({ database, env: { PLUGINS_DISABLED: id } });
      const { url } = app;
      const { token } = await app.admin();
      const here = new Set(app.running.gathered.routes.map(nameOf));
      for (const owned of own.filter((one) => !here.has(nameOf(one)))) {
        const { status } = await probe(url, owned, { token });
        // Another plugin may answer the path with other methods; the compat surface may pass unknown paths on.
        const refusals = owned.surface === "compat" ? [403, 404, 405] : [404, 405];
        expect(refusals, nameOf(owned)).toContain(status);
      }
      expect(app.running.gathered.plugins.some((entry) => entry.plugin.id === id)).toBe(false);
    });
  }
});

/** Ids of all plugins that need `plugin`, directly or not. */
function closure(plugin: AnyPlugin): string[] {
  const found = new Set<string>();
  const visit = (one: AnyPlugin): void => {
    for (const { id } of findDependents(one)) {
      const dependent = catalogue.find((entry) => entry.id === id);
      if (dependent && !found.has(id)) {
        found.add(id);
        visit(dependent);
      }
    }
  };
  visit(plugin);
  return [...found];
}

test("an id that no plugin has leaves nothing out", async () => {
  app = await startApp({ database, env: { PLUGINS_DISABLED: "no-such-plugin" } });
  expect(app.running.gathered.plugins.length).toBe(catalogue.length);
});
