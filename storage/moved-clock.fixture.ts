import type { Client } from "pg";

// A run of tests with another date moves Date in its processes. A server of its own does not follow: its databases get
// functions of the same names in a schema that is searched before the built-in ones.

/** Milliseconds between the machine's clock and that of this process; undefined in a run with the machine's clock. */
function readShift(): number | undefined {
  // oxlint-disable-next-line node/no-process-env -- belongs to the test run, not a variable of the product
  const { TEST_CLOCK_SHIFT: shift } = process.env;
  return shift === undefined ? undefined : Number(shift);
}

const moved = ["now", "clock_timestamp", "transaction_timestamp", "statement_timestamp"].map(
  (name) => `create function moved.${name}() returns timestamptz
    language sql ${name === "clock_timestamp" ? "volatile" : "stable"} as $$
      select pg_catalog.${name}() + make_interval(secs => current_setting('moved.shift')::float8 / 1000) $$;`,
);

/** Adds the functions to the database of this connection, from which others are copied. */
export async function addMovedClock(client: Client): Promise<void> {
  if (readShift() !== undefined) {
    await client.query(`create schema moved; ${moved.join("\n")}`);
  }
}

/** Lets a database with these functions tell the time of this process. */
export async function moveClockOfDatabase(client: Client, name: string): Promise<void> {
  const shift = readShift();
  if (shift !== undefined) {
    await client.query(`alter database ${name} set moved.shift = '${shift}'`);
    await client.query(`alter database ${name} set search_path = public, moved, pg_catalog`);
  }
}
