/** A value that this browser keeps, such as the width of a panel. Broken or forbidden storage falls back. */
export function remembered<Value>(key: string, initial: Value): { value: Value } {
  let value = $state.raw(read(key, initial));
  return {
    get value() {
      return value;
    },
    set value(next: Value) {
      value = next;
      try {
        localStorage.setItem(key, JSON.stringify(next));
      } catch {
        // A full or forbidden storage costs the memory, not the feature.
      }
    },
  };
}

function read<Value>(key: string, initial: Value): Value {
  try {
    const text = localStorage.getItem(key);
    return text === null ? initial : (JSON.parse(text) as Value);
  } catch {
    return initial;
  }
}
