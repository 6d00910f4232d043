import { AsyncLocalStorage } from "node:async_hooks";
import type { Dialect, Driver } from "kysely";
import { StorageError } from "./errors.ts";
import { timeConnection } from "./query-times.ts";

/** Knows which async contexts run inside a transaction. */
export interface Guard {
  /** Throws inside a running transaction of the same async context. */
  check(): void;
  /** Runs the body of a transaction; until it ends, `check` throws inside. */
  inside<R>(run: () => Promise<R>): Promise<R>;
  /** A dialect whose every connection is asked for through `check`. */
  protect(dialect: Dialect): Dialect;
}

/**
 * Makes a forgotten `tx` an error at once. The embedded database has one connection, so a query beside the
 * open transaction would wait for it for ever; on a server it would silently run outside the transaction.
 */
export function createGuard(): Guard {
  const contexts = new AsyncLocalStorage<{ running: boolean }>();
  const check = (): void => {
    if (contexts.getStore()?.running) {
      throw new StorageError(
        "A transaction is running in this context: use the `tx` it was given, not the database",
      );
    }
  };
  return {
    check,
    async inside(run) {
      // Work that outlives the transaction keeps its context, so the end must be visible in it.
      const state = { running: true };
      try {
        return await contexts.run(state, run);
      } finally {
        state.running = false;
      }
    },
    protect: (dialect) => ({
      createAdapter: () => dialect.createAdapter(),
      createIntrospector: (db) => dialect.createIntrospector(db),
      createQueryCompiler: () => dialect.createQueryCompiler(),
      createDriver: () => protectDriver(dialect.createDriver(), check),
    }),
  };
}

function protectDriver(driver: Driver, check: () => void): Driver {
  return new Proxy(driver, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (name === "acquireConnection") {
        return async (...options: Parameters<Driver["acquireConnection"]>) => {
          check();
          return timeConnection(await target.acquireConnection(...options));
        };
      }
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}
