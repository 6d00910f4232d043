import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { join } from "node:path";

/** One headed part of a documentation page. */
export interface Section {
  readonly id: number;
  /** Path of the page from the project's root, e.g. `docs/operating.md`. */
  readonly page: string;
  /** The page's title. */
  readonly title: string;
  /** Headings from the page's title down to this part's own. */
  readonly heading: string;
  readonly text: string;
}

/** A chat cannot show pictures of the docs: their addresses are relative to the page. */
const picture = /^!\[.*\]\(.*\)$/;

const root = fileURLToPath(new URL("../../", import.meta.url));

/** Reads the bundled documentation: README.md and every page in docs/. */
export async function readSections(): Promise<Section[]> {
  const pages = ["README.md", ...(await listDocs())];
  const sections: Section[] = [];
  for (const page of pages) {
    for (const part of splitPage(await readFile(join(root, page), "utf8"))) {
      sections.push({ ...part, id: sections.length, page });
    }
  }
  return sections;
}

async function listDocs(): Promise<string[]> {
  const names = await readdir(join(root, "docs"));
  return names
    .filter((name) => name.endsWith(".md"))
    .toSorted()
    .map((name) => `docs/${name}`);
}

/** Splits Markdown at its headings, without pictures; text inside fenced code keeps its `#` lines. */
export function splitPage(markdown: string): Omit<Section, "id" | "page">[] {
  const sections: Omit<Section, "id" | "page">[] = [];
  const path: string[] = [];
  let lines: string[] = [];
  let isCode = false;
  const close = () => {
    const text = lines.join("\n").trim();
    if (text !== "") {
      sections.push({ title: path[0] ?? "", heading: path.filter(Boolean).join(" › "), text });
    }
    lines = [];
  };
  for (const line of markdown.split("\n")) {
    if (/^\s*(```|~~~)/.test(line)) {
      isCode = !isCode;
    }
    const heading = isCode ? null : /^(#{1,4}) +(.+?) *#*$/.exec(line);
    if (heading) {
      close();
      const depth = (heading[1] as string).length;
      path.length = Math.min(path.length, depth - 1);
      path[depth - 1] = heading[2] as string;
    } else if (isCode || !picture.test(line)) {
      lines.push(line);
    }
  }
  close();
  return sections;
}
