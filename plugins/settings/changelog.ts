/** One entry of a release: its bold lead, if it has one, and the rest. */
export interface Change {
  readonly title: string;
  readonly content: string;
  readonly raw: string;
}

/** A release: its date and, by heading in lower case (`added`, `fixed` …), its changes. */
export type Release = Readonly<Record<string, string | readonly Change[]>>;

/**
 * Reads a changelog of `## [version] - date`, `### Section` and `- entry` lines into releases by version, in the
 * order written. Further lines go on with the entry above them; text outside entries is left out.
 */
export function parseChangelog(text: string): Record<string, Release> {
  const releases = new Map<string, Map<string, string | string[]>>();
  let release: Map<string, string | string[]> | undefined;
  let entries: string[] | undefined;
  for (const line of text.split(/\r?\n/)) {
    const [, version, date] = /^## +\[?([^\]\s]+)\]?(?: +- +(\S+))?\s*$/.exec(line) ?? [];
    const section = /^### +(\S.*?)\s*$/.exec(line)?.[1];
    if (version !== undefined) {
      release = new Map([["date", date ?? ""]]);
      releases.set(version, release);
      entries = undefined;
    } else if (section !== undefined) {
      entries = [];
      release?.set(section.toLowerCase(), entries);
    } else {
      addLine(entries, line.trimEnd());
    }
  }
  return Object.fromEntries([...releases].map(([version, sections]) => [version, toRelease(sections)]));
}

function addLine(entries: string[] | undefined, line: string): void {
  const entry = /^[-*] +(.+)$/.exec(line)?.[1];
  if (entry !== undefined) {
    entries?.push(entry);
  } else if (line !== "" && entries !== undefined && entries.length > 0) {
    entries.push(`${entries.pop()} ${line.trim()}`);
  }
}

function toRelease(sections: Map<string, string | string[]>): Release {
  return Object.fromEntries(
    [...sections].map(([name, value]) => [name, typeof value === "string" ? value : value.map(toChange)]),
  );
}

function toChange(raw: string): Change {
  const [, title, content] = /^\*\*(.+?):?\*\*:? *(.*)$/.exec(raw) ?? [];
  return title === undefined ? { title: "", content: raw, raw } : { title, content: content ?? "", raw };
}
