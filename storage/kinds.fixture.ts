import { describe } from "vitest";
import type { Database } from "./database.ts";
import { findTestServer } from "./testing.ts";

/** Runs a suite on the embedded database, and on a server when TEST_DATABASE_URL names one. */
export function describeKinds(name: string, suite: (kind: Database["kind"]) => void): void {
  describe(`${name} (embedded)`, () => suite("embedded"));
  describe.skipIf(!findTestServer())(`${name} (server)`, () => suite("server"));
}
