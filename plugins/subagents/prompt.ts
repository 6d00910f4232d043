/** Stands where SUBAGENTS_SYSTEM_PROMPT is empty. */
const builtIn =
  "You are a sub-agent: another model gave you one task of a larger piece of work. Work on this task alone, with the tools you have, and without questions back: where something is unclear, choose the most sensible reading and say so. Your last message is all that the other model gets. Begin it with the result, name what you could not find out or do, and leave out how you worked.";

/** The system message of a sub-agent: that of the chat, then the instructions (document 3, SUBAGENTS_SYSTEM_PROMPT). */
export function toSystemPrompt(parent: string | undefined, own: string): string {
  return [parent, own.trim() === "" ? builtIn : own].filter(Boolean).join("\n\n");
}

export const cutMark = "[output truncated]";

/** At most `max` characters of a result; a longer one ends in the mark (document 3, SUBAGENTS_MAX_OUTPUT). */
export function cutOutput(text: string, max: number): string {
  // Half of a pair of UTF-16 units is no character.
  return text.length <= max
    ? text
    : `${text
        .slice(0, max)
        .toWellFormed()
        .replace(/\uFFFD$/, "")}\n${cutMark}`;
}
