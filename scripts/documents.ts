import { existsSync } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { docsPictures, unpictured } from "./shots/docs-pictures.ts";
import { states, strangerStates } from "./shots/states.ts";
import { root } from "./tool.ts";

const longestArchitecture = 201;

/** ARCHITECTURE.md names every folder of the kernel and every plugin, and nothing that is gone. */
export async function findArchitectureGaps(): Promise<string[]> {
  const page = await readFile(join(root, "ARCHITECTURE.md"), "utf8");
  const inText = /`((?:config|storage|kernel|plugins|docs|examples|scripts|test|bench)\/[\w./-]*)`/g;
  const inTree = /^(\w+\/) {2,}/gm;
  const named = [...page.matchAll(inText), ...page.matchAll(inTree)].map((match) => match[1] as string);
  const folders = await Promise.all(["kernel", "plugins"].map(listFolders));
  const lines = page.split("\n").length;
  return [
    // A page whose names are not found any more would pass every other rule.
    ...(named.length > 60 ? [] : [`only ${named.length} paths were read in ARCHITECTURE.md`]),
    ...named.filter((path) => !existsSync(join(root, path))).map((path) => `${path} is named and gone`),
    ...folders
      .flat()
      .filter((folder) => !named.includes(folder))
      .map((folder) => `${folder} is not named in ARCHITECTURE.md`),
    ...(lines > longestArchitecture
      ? [`ARCHITECTURE.md has ${lines} lines, at most ${longestArchitecture} are allowed`]
      : []),
  ];
}

async function listFolders(parent: string): Promise<string[]> {
  const entries = await readdir(join(root, parent), { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => `${parent}/${name}/`);
}

const smallestPicture = 10_000;

/** Every page of docs/ about something to be seen shows a picture of a state that `npm run shots` can take again. */
export async function findPictureGaps(): Promise<string[]> {
  const docs = join(root, "docs");
  const pages = (await readdir(docs)).filter((name) => name.endsWith(".md")).map((name) => name.slice(0, -3));
  const listed = new Set([...Object.keys(docsPictures), ...unpictured]);
  const known = new Set([...states, ...strangerStates].map(({ name }) => name));
  const problems = [
    ...pages
      .filter((page) => !listed.has(page))
      .map((page) => `docs/${page}.md is listed in neither docsPictures nor unpictured`),
    ...[...listed]
      .filter((page) => !pages.includes(page))
      .map((page) => `docs/${page}.md is listed and gone`),
  ];
  for (const [page, state] of Object.entries(docsPictures)) {
    const picture = join(docs, `pictures/${page}.png`);
    const text = await readFile(join(docs, `${page}.md`), "utf8").catch(() => "");
    const isShown = new RegExp(`^!\\[[^\\]]{10,}\\]\\(pictures/${page}\\.png\\)$`, "m").test(text);
    const size = (await stat(picture).catch(() => undefined))?.size ?? 0;
    problems.push(
      ...(known.has(state) ? [] : [`docs/${page}.md: there is no state ${state}`]),
      ...(isShown ? [] : [`docs/${page}.md does not show pictures/${page}.png with a description`]),
      ...(size > smallestPicture ? [] : [`docs/pictures/${page}.png is missing or empty`]),
    );
  }
  const surplus = (await readdir(join(docs, "pictures"))).filter(
    (name) => !Object.hasOwn(docsPictures, name.replace(/\.png$/, "")),
  );
  return [...problems, ...surplus.map((name) => `docs/pictures/${name} is shown by no page`)];
}
