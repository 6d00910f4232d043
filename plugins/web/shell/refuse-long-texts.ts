import { tooLong } from "../kit/length-limit.ts";

/**
 * Browsers cut what is pasted to the length of a field without a word, and count an emoji as two. Fields that name the
 * most that they take in `data-most` refuse the whole of what is too long here, with the reason at the field. Those of
 * the kit that have room for words take any text and say what is wrong by themselves.
 */
export function refuseLongTexts(): void {
  addEventListener("beforeinput", refuse, { capture: true });
}

function refuse(event: InputEvent): void {
  const field = event.composedPath()[0];
  if (!(field instanceof HTMLInputElement) && !(field instanceof HTMLTextAreaElement)) {
    return;
  }
  const { value, selectionStart, selectionEnd } = field;
  const added = event.data ?? event.dataTransfer?.getData("text/plain") ?? "";
  const next =
    value.slice(0, selectionStart ?? value.length) + added + value.slice(selectionEnd ?? value.length);
  const problem = added === "" ? undefined : tooLong(next, Number(field.dataset["most"]));
  if (problem !== undefined) {
    event.preventDefault();
    tell(field, problem);
  }
}

/** The field itself is right, so the reason goes with the next key and never holds a form back. */
function tell(field: HTMLInputElement | HTMLTextAreaElement, reason: string): void {
  const control = new AbortController();
  const clear = () => {
    field.setCustomValidity("");
    control.abort();
  };
  field.setCustomValidity(reason);
  field.reportValidity();
  for (const name of ["keydown", "input", "blur"]) {
    field.addEventListener(name, clear, { capture: true, signal: control.signal });
  }
}
