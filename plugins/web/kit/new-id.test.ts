import { expect, test } from "vitest";
import { newId } from "./new-id.ts";

// Node has no `isSecureContext`, like a page that came over plain HTTP has none that is true.
test("makes a UUID of version 4 without the browser's own function", () => {
  const ids = Array.from({ length: 100 }, () => newId());
  ids.forEach((id) =>
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
  );
  expect(new Set(ids).size).toBe(100);
});
