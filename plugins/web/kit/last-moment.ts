/**
 * Calls `run` when the page goes or is out of sight: a phone may end it then without another word. What `run` sends
 * outlives the page where it is small. Returns the way out.
 */
export function atLastMoment(run: () => unknown): () => void {
  const stop = new AbortController();
  const { signal } = stop;
  addEventListener("pagehide", () => void run(), { signal });
  document.addEventListener("visibilitychange", () => void (document.visibilityState === "hidden" && run()), {
    signal,
  });
  return () => stop.abort();
}
