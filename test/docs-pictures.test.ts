import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { docsPictures, unpictured } from "../scripts/shots/docs-pictures.ts";
import { states, strangerStates } from "../scripts/shots/states.ts";

const docs = join(import.meta.dirname, "../docs");

test("every page of docs/ about something to be seen shows a picture of a state that can be taken again", async () => {
  const pages = (await readdir(docs)).filter((name) => name.endsWith(".md")).map((name) => name.slice(0, -3));
  expect([...Object.keys(docsPictures), ...unpictured].toSorted()).toEqual(pages.toSorted());
  const known = [...states, ...strangerStates].map(({ name }) => name);
  for (const [page, state] of Object.entries(docsPictures)) {
    expect(known).toContain(state);
    expect(await readFile(join(docs, `${page}.md`), "utf8")).toMatch(
      new RegExp(`^!\\[[^\\]]{10,}\\]\\(pictures/${page}\\.png\\)$`, "m"),
    );
    expect((await stat(join(docs, `pictures/${page}.png`))).size).toBeGreaterThan(10_000);
  }
  expect(await readdir(join(docs, "pictures"))).toHaveLength(Object.keys(docsPictures).length);
});
