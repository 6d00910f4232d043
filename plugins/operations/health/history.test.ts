import { expect, it } from "vitest";
import { createHistory } from "./history.ts";
import { createUpstreams } from "./upstreams.ts";

const start = 1_800_000_000_000;
const minute = 60_000;

it("keeps the looks of an hour, and a failed one without a time", () => {
  let now = start;
  const history = createHistory(() => now);
  const look = (latency: number | null) =>
    history.add([{ id: "database", state: latency === null ? "failing" : "working", latency_ms: latency }]);
  look(3);
  now += 59 * minute;
  look(null);
  expect(history.of("database").map(({ latency_ms: ms }) => ms)).toEqual([3, null]);
  now += minute;
  look(5);
  expect(history.of("database").map(({ latency_ms: ms }) => ms)).toEqual([null, 5]);
});

it("counts calls of an hour by the host of their connection, and those that failed", () => {
  let now = start;
  const urls = ["https://a.example/v1", "https://b.example/v1"];
  const upstreams = createUpstreams(
    () => now,
    (variable) => (variable === "OPENAI_API_BASE_URLS" ? urls : undefined),
  );
  const count = (connection: string | undefined, outcome: "completed" | "failed" | "aborted") =>
    upstreams.count({ provider: connection === undefined ? "guide" : "common", connection, outcome });
  count("0", "failed");
  now += 30 * minute;
  count("0", "completed");
  count("1", "aborted");
  count(undefined, "completed");
  expect(upstreams.list()).toEqual([
    { name: "a.example", calls: 2, failed: 1 },
    { name: "b.example", calls: 1, failed: 0 },
    { name: "guide", calls: 1, failed: 0 },
  ]);
  now += 31 * minute;
  expect(upstreams.list()[0]).toEqual({ name: "a.example", calls: 1, failed: 0 });
});
