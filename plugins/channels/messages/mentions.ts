/** People, models and channels that a text mentions: `<@U:id|label>`, `<@M:id|label>`, `<#C:id|label>`. */
export interface Mentions {
  readonly users: readonly string[];
  readonly models: readonly { readonly id: string; readonly label: string }[];
  readonly channels: readonly string[];
}

/** Models that one message may wake. */
export const mostModels = 5;

const mention = /<(@U|@M|#C):([^|<>\n]{1,256})(?:\|([^<>\n]{0,256}))?>/g;

/** Reads the mentions of a text, each once, in their order. */
export function readMentions(text: string): Mentions {
  const users = new Set<string>();
  const models = new Map<string, string>();
  const channels = new Set<string>();
  for (const [, kind, id = "", label] of text.matchAll(mention)) {
    if (kind === "@U") {
      users.add(id);
    } else if (kind === "#C") {
      channels.add(id);
    } else if (models.size < mostModels) {
      models.set(id, models.get(id) ?? label ?? id);
    }
  }
  return {
    users: [...users],
    models: [...models].map(([id, label]) => ({ id, label })),
    channels: [...channels],
  };
}

/** The text as people read it: labels in the place of mentions. */
export function toPlainText(text: string): string {
  return text.replaceAll(mention, (_all, kind: string, id: string, label?: string) => {
    const sign = kind === "#C" ? "#" : "@";
    return sign + (label || id);
  });
}
