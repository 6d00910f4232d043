/** An event of a stream; `name` and `id` are empty where it has none. */
export interface StreamEvent {
  readonly name: string;
  readonly id: string;
  readonly data: string;
}

interface StreamListener {
  /** Bytes came, comments included. */
  onwords(): void;
  onevent(event: StreamEvent): void;
}

/** Reads server-sent events with lines that end in LF; resolves when the answer ends, rejects when it breaks off. */
export async function readStream(response: Response, { onwords, onevent }: StreamListener): Promise<void> {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    onwords();
    text += decoder.decode(read.value, { stream: true });
    const blocks = text.split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) {
      const event = toEvent(block);
      if (event.data !== "") {
        onevent(event);
      }
    }
  }
}

function toEvent(block: string): StreamEvent {
  const fields = new Map(
    block.split("\n").map((line): [string, string] => {
      const at = line.indexOf(": ");
      return [line.slice(0, at), line.slice(at + 2)];
    }),
  );
  return { name: fields.get("event") ?? "", id: fields.get("id") ?? "", data: fields.get("data") ?? "" };
}
