import { writeFile } from "node:fs/promises";
import { renderDocs } from "./docs.ts";
import { root } from "./tool.ts";

// Writes the pages of docs/ that are derived from declarations.
for (const [path, text] of Object.entries(await renderDocs())) {
  await writeFile(`${root}${path}`, text);
  console.log(`wrote ${path}`);
}
process.exit(0);
