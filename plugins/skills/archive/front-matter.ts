/** The head of a SKILL.md and what stands below it. */
export interface SkillText {
  readonly name: string | undefined;
  readonly description: string | undefined;
  readonly content: string;
}

/** Reads `name` and `description` between two lines of three hyphens; other keys stay out of the text. */
export function readFrontMatter(text: string): SkillText {
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/);
  const end =
    lines[0]?.trim() === "---" ? lines.findIndex((line, at) => at > 0 && line.trim() === "---") : -1;
  if (end < 0) {
    return { name: undefined, description: undefined, content: lines.join("\n").trim() };
  }
  const valueOf = (key: string) => {
    const line = lines.slice(1, end).find((one) => one.startsWith(`${key}:`));
    return line === undefined ? undefined : unquote(line.slice(key.length + 1).trim()) || undefined;
  };
  const content = lines.slice(end + 1).join("\n");
  return { name: valueOf("name"), description: valueOf("description"), content: content.trim() };
}

/** A skill as a SKILL.md. */
export function toFrontMatter({
  name,
  description,
  content,
}: {
  name: string;
  description: string;
  content: string;
}): string {
  return `---\nname: ${JSON.stringify(name)}\ndescription: ${JSON.stringify(description)}\n---\n\n${content}\n`;
}

function unquote(value: string): string {
  if (value.startsWith('"')) {
    try {
      return String(JSON.parse(value));
    } catch {
      return value;
    }
  }
  return value.length > 1 && value.startsWith("'") && value.endsWith("'")
    ? value.slice(1, -1).replaceAll("''", "'")
    : value;
}
