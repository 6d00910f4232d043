import type { Command } from "../kit/web.ts";

export interface CommandGroup {
  readonly title: string;
  readonly commands: readonly Command[];
}

/** Commands that contain every word of the query; all of them without one. */
export function matching(commands: readonly Command[], query: string): Command[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  return commands.filter(({ title, group, keywords = "" }) => {
    const text = `${title} ${group} ${keywords}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** Commands by their groups, both in the order in which they come. */
export function grouped(commands: readonly Command[]): CommandGroup[] {
  const groups = Map.groupBy(commands, ({ group }) => group);
  return [...groups].map(([title, members]) => ({ title, commands: members }));
}
