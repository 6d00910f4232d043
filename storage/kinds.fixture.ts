import { describe } from "vitest";
import type { Database } from "./database.ts";

/** Runs a suite on the embedded database and on the test run's server. */
export function describeKinds(name: string, suite: (kind: Database["kind"]) => void): void {
  describe(`${name} (embedded)`, () => suite("embedded"));
  describe(`${name} (server)`, () => suite("server"));
}
