/** A page that is not there by then has failed, and says so. */
const longestMs = 10_000;
let stop: (() => string) | undefined;

/** Keeps keys that are typed while a page that was asked for is on its way; the field that it begins with takes them. */
export function keepTypedAhead(): void {
  stop?.();
  const control = new AbortController();
  const timer = setTimeout(() => stop?.(), longestMs);
  let text = "";
  stop = () => {
    stop = undefined;
    clearTimeout(timer);
    control.abort();
    return text;
  };
  const keep = (event: KeyboardEvent): void => {
    const { key, ctrlKey, metaKey, altKey, isComposing } = event;
    if (ctrlKey || metaKey || altKey || isComposing) {
      return;
    }
    const isText = [...key].length === 1;
    if (isText || key === "Backspace") {
      event.preventDefault();
      event.stopPropagation();
      text = isText ? text + key : [...text].slice(0, -1).join("");
    } else if (key === "Escape") {
      stop?.();
    }
  };
  addEventListener("keydown", keep, { capture: true, signal: control.signal });
  addEventListener("pointerdown", () => stop?.(), { capture: true, signal: control.signal });
}

/** Ends the keeping, and tells what was typed. */
export const takeTypedAhead = (): string => stop?.() ?? "";
