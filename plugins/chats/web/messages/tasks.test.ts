import { expect, test } from "vitest";
import { readTasks } from "./tasks.ts";

test("shows each task once, with a status that it knows", () => {
  expect(
    readTasks([
      { id: "a", content: "Measure", status: "in_progress" },
      { id: "b", title: "Write", status: "whatever" },
      { content: "Send", status: "cancelled" },
      { id: "a", content: "Measure twice", status: "completed" },
    ]),
  ).toEqual([
    { id: "a", title: "Measure twice", status: "completed" },
    { id: "b", title: "Write", status: "pending" },
    { id: "#2", title: "Send", status: "cancelled" },
  ]);
});
