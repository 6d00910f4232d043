import { expect, it } from "vitest";
import { parseChangelog } from "./changelog.ts";

const text = `# Changelog

All notable changes.

## [0.2.0] - 2026-11-20

### Added

- **Groups**: people can be put into groups,
  and groups carry permissions.
- Plain entry

### Fixed

- **A fault:** gone.

## 0.1.0

### Added
- First
`;

it("reads releases, sections and entries", () => {
  const releases = parseChangelog(text);
  expect(Object.keys(releases)).toEqual(["0.2.0", "0.1.0"]);
  expect(releases["0.2.0"]).toMatchObject({
    date: "2026-11-20",
    added: [
      { title: "Groups", content: "people can be put into groups, and groups carry permissions." },
      { title: "", content: "Plain entry", raw: "Plain entry" },
    ],
    fixed: [{ title: "A fault", content: "gone.", raw: "**A fault:** gone." }],
  });
  expect(releases["0.1.0"]).toMatchObject({ date: "", added: [{ content: "First" }] });
});

it("answers nothing for a text without releases", () => {
  expect(parseChangelog("# Changelog\n\n- stray")).toEqual({});
});
