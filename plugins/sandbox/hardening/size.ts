/** Whether a JSON text may hold more than `most` values, names of members left out. Looks no further than needed. */
export function hasMoreValues(text: string, most: number): boolean {
  // Two characters are the least that a value and what parts it from the next one take.
  if (text.length <= 2 * most) {
    return false;
  }
  let count = 1;
  for (let at = 0; at < text.length; at++) {
    const letter = text.charCodeAt(at);
    if (letter === quote) {
      at = toEnd(text, at + 1);
    } else if ((letter === comma || letter === list || letter === object) && ++count > most) {
      return true;
    }
  }
  return false;
}

/** Whether a JSON text is nested deeper than `most`: code that walks such values runs out of stack. */
export function isDeeperThan(text: string, most: number): boolean {
  // Each level opens and closes.
  if (text.length <= 2 * most) {
    return false;
  }
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const letter = text.charCodeAt(at);
    if (letter === quote) {
      at = toEnd(text, at + 1);
    } else if (letter === list || letter === object) {
      if (++depth > most) {
        return true;
      }
    } else if (letter === listEnd || letter === objectEnd) {
      depth--;
    }
  }
  return false;
}

const [quote, comma, backslash] = [0x22, 0x2c, 0x5c];
const [list, listEnd, object, objectEnd] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Where the text that begins at `from` ends. */
function toEnd(text: string, from: number): number {
  for (let at = text.indexOf('"', from); at >= 0; at = text.indexOf('"', at + 1)) {
    let before = at;
    while (text.charCodeAt(before - 1) === backslash) {
      before--;
    }
    if ((at - before) % 2 === 0) {
      return at;
    }
  }
  return text.length;
}
