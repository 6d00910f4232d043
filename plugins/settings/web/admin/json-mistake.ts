/** Where the first mistake of a JSON text is, as an index into it; undefined when there is none. */
export function findJsonMistake(text: string): number | undefined {
  let at = 0;
  /** Goes past what fits here; false leaves `at` on the mistake. */
  const skip = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    at = found ? pattern.lastIndex : at;
    return found !== null;
  };
  const space = () => skip(/[ \t\n\r]*/y);
  const isString = () => skip(/"(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/uy);
  const isMember = () => isString() && space() && skip(/:/y) && isValue();

  function isValue(): boolean {
    space();
    if (skip(/\[/y)) {
      return isSequence(isValue, /\]/y);
    }
    if (skip(/\{/y)) {
      return isSequence(isMember, /\}/y);
    }
    return isString() || skip(/-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y) || skip(/true|false|null/y);
  }

  function isSequence(isPart: () => boolean, end: RegExp): boolean {
    space();
    if (skip(end)) {
      return true;
    }
    do {
      space();
      if (!isPart()) {
        return false;
      }
      space();
    } while (skip(/,/y));
    return skip(end);
  }

  return isValue() && space() && at === text.length ? undefined : at;
}
