/** Signs up the first account of a fresh server; resolves to its session token. */
export async function firstAdmin(url: string): Promise<string> {
  const answer = await fetch(`${url}/api/v1/auths/signup`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ name: "Ana", email: "ana@example.test", password: "Correct-horse-1" }),
  });
  if (!answer.ok) {
    throw new Error(`the first sign-up failed: ${await answer.text()}`);
  }
  return ((await answer.json()) as { token: string }).token;
}

export interface OpenStream {
  readonly status: number;
  readonly headers: Headers;
  /** Milliseconds from sending to the first byte of the body. */
  readonly firstByte: number;
  /** The whole text, up to where the stream ended or broke. */
  rest(): Promise<string>;
  /** Leaves in the middle. */
  abort(): void;
}

/** Posts a streamed completion and resolves once its first piece has come. */
export async function openStream(url: string, token: string, body: object): Promise<OpenStream> {
  const leaving = new AbortController();
  const sent = performance.now();
  const answer = await fetch(`${url}/api/chat/completions`, {
    method: "POST",
    signal: leaving.signal,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ stream: true, ...body }),
  });
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  const first = await reader.read().catch(() => ({ value: undefined }));
  const firstByte = performance.now() - sent;
  return {
    status: answer.status,
    headers: answer.headers,
    firstByte,
    abort: () => leaving.abort(),
    async rest() {
      let text = decoder.decode(first.value, { stream: true });
      try {
        for (let next = await reader.read(); !next.done; next = await reader.read()) {
          text += decoder.decode(next.value, { stream: true });
        }
      } catch {
        // The stream broke off: the text ends here.
      }
      return text;
    },
  };
}
