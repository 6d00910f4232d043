/** A commented tool to begin with. */
export interface Template {
  readonly id: string;
  readonly name: string;
  readonly text: string;
}

const files = import.meta.glob<string>("../../../../examples/tools/*.js", {
  query: "?raw",
  import: "default",
});

/** The examples of the project: plain comments, another server, and a store with a page. */
export const templates: readonly Template[] = [
  {
    id: "convert_units",
    name: "Convert units",
    text: "Functions with comments that models read. Needs nothing but itself.",
  },
  {
    id: "weather",
    name: "Weather",
    text: "Asks a public service, with a setting for each person and a status line while it works.",
  },
  {
    id: "shared_list",
    name: "Shared list",
    text: "Keeps entries for everybody who uses it and shows them as a page in the chat.",
  },
];

/** The code of a template. */
export async function readTemplate(id: string): Promise<string | undefined> {
  return await files[`../../../../examples/tools/${id}.js`]?.();
}

/** A tool with one function that does nothing yet. */
export const blank = `/*
description: What this tool is for, in one sentence
*/

/**
 * What the function does, as models read it.
 *
 * @param {string} text - What it is given
 * @param {number} [times=1] - What may be left out has a default
 */
export function repeat_text(text, times, ctx) {
  return Array(times).fill(text).join(" ");
}
`;
