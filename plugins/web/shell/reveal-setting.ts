const patienceMs = 10_000;
const markedMs = 2_000;
const controls = "input, select, textarea, button, a[href], [tabindex='0']";

/** Scrolls to the setting of this title as soon as the page shows it, and puts the focus on it. Answers how to stop. */
export function revealSetting(page: HTMLElement, title: string, onend: () => void): () => void {
  const look = (): boolean => {
    const setting = page.querySelector<HTMLElement>(`[data-setting="${CSS.escape(title)}"]`);
    if (!setting) {
      return false;
    }
    setting.scrollIntoView({ block: "center" });
    setting.querySelector<HTMLElement>(controls)?.focus({ preventScroll: true });
    for (const one of page.querySelectorAll<HTMLElement>("[data-found]")) {
      delete one.dataset["found"];
    }
    setting.dataset["found"] = "";
    setTimeout(() => delete setting.dataset["found"], markedMs);
    onend();
    return true;
  };
  if (look()) {
    return () => undefined;
  }
  // Pages read what they show; a setting that does not come is not waited for any longer.
  const observer = new MutationObserver(() => look() && stop());
  const timer = setTimeout(() => {
    stop();
    onend();
  }, patienceMs);
  const stop = () => {
    clearTimeout(timer);
    observer.disconnect();
  };
  observer.observe(page, { childList: true, subtree: true });
  return stop;
}
