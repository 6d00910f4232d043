/** Characters that all answers under way may keep of what they have read, and that one of them may. */
const mostInAll = 128 * 1024 * 1024;
const mostOfOne = 64 * 1024 * 1024;

let all = 0;

/** Texts of messages that one answer has read and will need again. */
export interface KeptTexts {
  add(texts: ReadonlyMap<string, string>): void;
  /** The texts of these messages; undefined when some of them are not kept. */
  get(ids: readonly string[]): ReadonlyMap<string, string> | undefined;
  end(): void;
}

/** Keeps texts until there is no room for more; then none is kept, and what is needed again is read again. */
export function keepTexts(): KeptTexts {
  let kept: Map<string, string> | undefined = new Map();
  let own = 0;
  const end = () => {
    all -= own;
    own = 0;
    kept = undefined;
  };
  return {
    add(texts) {
      for (const [id, text] of kept === undefined ? [] : texts) {
        kept?.set(id, text);
        own += text.length;
        all += text.length;
      }
      if (own > mostOfOne || all > mostInAll) {
        end();
      }
    },
    get: (ids) => (kept !== undefined && ids.every((id) => kept?.has(id)) ? kept : undefined),
    end,
  };
}
