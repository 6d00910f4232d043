import type { Message } from "#kernel/completion/request.ts";
import type { CodeItem } from "../reply/items.ts";

/** Code that ran in a reply as a model reads it: what it wrote, and behind it what came of that. */
export function toCodeMessages(item: CodeItem, sees: boolean): { said: string; answer: Message } {
  const { lang, code, output } = item;
  const said = `<code_interpreter type="code" lang="${lang}">\n${code}\n</code_interpreter>`;
  // Stored objects come back with their keys in another order, and caches of providers want the same text again.
  const told =
    output === undefined
      ? "The code was not run."
      : JSON.stringify({ stdout: output.stdout, stderr: output.stderr, result: output.result });
  const text = `<code_interpreter_output>\n${told}\n</code_interpreter_output>`;
  const pictures = sees && Array.isArray(item.files) ? item.files.flatMap(toPicture) : [];
  const content = pictures.length > 0 ? [{ type: "text", text }, ...pictures] : text;
  return { said, answer: { role: "user", content } };
}

function toPicture(file: unknown): { type: string; image_url: { url: string } }[] {
  const { type, url } = (file ?? {}) as { type?: unknown; url?: unknown };
  return type === "image" && typeof url === "string" ? [{ type: "image_url", image_url: { url } }] : [];
}
