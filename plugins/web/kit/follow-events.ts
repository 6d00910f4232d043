export interface EventFollower<Data> {
  /** Called with the JSON of each event. */
  onData(data: Data): void;
  /** Called once when the server refuses to go on, as after access was taken away; nothing comes after it. */
  onRefused?(): void;
}

/**
 * Follows an address that answers with server-sent events, and opens a broken line again. A server that ends its answer
 * is asked again too: the follower stops by calling the result once it knows all.
 */
export function followEvents<Data>(address: string, { onData, onRefused }: EventFollower<Data>): () => void {
  const source = new EventSource(address);
  source.addEventListener("message", ({ data }) => onData(JSON.parse(String(data)) as Data));
  source.addEventListener("error", () => {
    if (source.readyState === EventSource.CLOSED) {
      onRefused?.();
    }
  });
  return () => source.close();
}
