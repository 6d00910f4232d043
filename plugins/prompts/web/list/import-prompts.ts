import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { server } from "#plugins/web/kit/server.ts";

interface Incoming {
  readonly command: string;
  readonly name: string;
  readonly content: string;
  readonly tags: string[];
  readonly data: Record<string, unknown>;
  readonly meta: Record<string, unknown>;
}

/** What became of one prompt of a file. */
export interface Imported {
  readonly command: string;
  /** Why it was not taken. */
  readonly failure?: string;
}

/** Reads prompts out of an export; older ones call the name a title. Throws an error that says what is wrong. */
export function readPrompts(text: string): readonly Incoming[] {
  const parsed: unknown = JSON.parse(text);
  return (Array.isArray(parsed) ? parsed : [parsed]).map((entry: unknown, index) => {
    const { command, name, title, content, tags, data, meta } = (entry ?? {}) as Record<string, unknown>;
    if (typeof command !== "string" || typeof content !== "string") {
      throw new TypeError(t("Entry {number} has no command or no content.", { number: index + 1 }));
    }
    const called = [name, title].find((one) => typeof one === "string" && one.trim() !== "");
    return {
      command,
      content,
      name: String(called ?? command),
      tags: Array.isArray(tags) ? tags.filter((tag) => typeof tag === "string") : [],
      data: toBag(data),
      meta: toBag(meta),
    };
  });
}

/** Stores them one after another; what the server refuses stands with its reason. */
export async function writePrompts(
  incoming: readonly Incoming[],
  onprogress: (done: readonly Imported[]) => void,
): Promise<void> {
  const done: Imported[] = [];
  for (const prompt of incoming) {
    try {
      await server.call("POST /api/v1/prompts/create", { body: prompt });
      done.push({ command: prompt.command });
    } catch (error) {
      done.push({ command: prompt.command, failure: (error as Error).message });
    }
    onprogress([...done]);
  }
}

const toBag = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
