type Reveal = (id: string) => void;

let reveal: Reveal | undefined;

/** The list of messages of the page says how it brings one into sight. Returns the way out. */
export function revealBy(run: Reveal): () => void {
  reveal = run;
  return () => {
    reveal = reveal === run ? undefined : reveal;
  };
}

/** Brings a message of the shown branch into sight, once the page shows that branch. */
export async function revealMessage(id: string): Promise<void> {
  await new Promise(requestAnimationFrame);
  reveal?.(id);
}
