import { readFile } from "node:fs/promises";
import { root } from "./shell.ts";

/** A fenced block of a documentation page. */
export interface Block {
  readonly language: string;
  readonly text: string;
}

/** Reads the fenced blocks of a page, in order. */
export async function readBlocks(page: string): Promise<Block[]> {
  const text = await readFile(`${root}${page}`, "utf8");
  return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language = "", block = ""]) => ({
    language,
    text: block.trim(),
  }));
}

/** The file that a block of code names in its first line, as in `// my-plugins/greeter/plugin.ts`. */
export function fileOf({ language, text }: Block): string | undefined {
  return language === "ts" || language === "js"
    ? /^\/\/ (\S+\.[jt]s)$/m.exec(text.split("\n", 1)[0] ?? "")?.[1]
    : undefined;
}
