/** Reads one message at a time aloud, with the voice of the browser. */
class Speech {
  current = $state<string>();
  readonly isAvailable = "speechSynthesis" in globalThis;

  toggle(id: string, text: string): void {
    speechSynthesis.cancel();
    if (this.current === id) {
      this.current = undefined;
      return;
    }
    const utterance = new SpeechSynthesisUtterance(toSpoken(text));
    utterance.addEventListener("end", () => this.#ended(id));
    utterance.addEventListener("error", () => this.#ended(id));
    this.current = id;
    speechSynthesis.speak(utterance);
  }

  #ended(id: string): void {
    if (this.current === id) {
      this.current = undefined;
    }
  }
}

/** Without what is written to be seen: fences, marks, addresses. */
const toSpoken = (text: string): string =>
  text
    .replaceAll(/```[\s\S]*?(```|$)/g, " ")
    .replaceAll(/!?\[([^[\]]{0,500})\]\([^()]{0,2000}\)/g, "$1")
    .replaceAll(/^#{1,6}\s+|[*_`~>|]+/gm, "");

export const speech = new Speech();
