const nextFrame = () => new Promise(requestAnimationFrame);
const edge = 12;

const articleOf = (id: string) => document.querySelector<HTMLElement>(`[data-message="${CSS.escape(id)}"]`);

/** The message in which the focus is. */
export const focusedMessage = (): string | undefined =>
  document.activeElement?.closest<HTMLElement>("[data-message]")?.dataset["message"];

/** Puts the focus on a message and scrolls to its begin, unless all of it is in sight. */
export async function focusMessage(
  id: string,
  { scroller, reveal }: { scroller: HTMLElement | undefined; reveal(id: string): void },
): Promise<void> {
  await nextFrame();
  if (!articleOf(id)) {
    reveal(id);
    // Rows that come into the page have their heights a frame later.
    await nextFrame();
    await nextFrame();
  }
  const article = articleOf(id);
  if (article && scroller) {
    article.focus({ preventScroll: true });
    const [box, view] = [article.getBoundingClientRect(), scroller.getBoundingClientRect()];
    if (box.top < view.top || box.bottom > view.bottom) {
      scroller.scrollTop += box.top - view.top - edge;
    }
  }
}

/** Gives the focus back to a message once what had it inside is gone. */
export async function returnFocus(id: string): Promise<void> {
  await nextFrame();
  articleOf(id)?.focus({ preventScroll: true });
}
