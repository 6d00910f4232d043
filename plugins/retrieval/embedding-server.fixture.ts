import { startUpstream, type Upstream } from "#test/support/upstream.ts";
import type { Script } from "#test/support/upstream-exchange.ts";
import { json } from "#test/support/upstream-scripts.ts";

/** Words whose counts are the numbers of a vector, so that texts with the same words are near. */
const vocabulary = ["eel", "ferry", "mill", "flood", "salmon", "bridge", "otter", "willow"];

/** A vector of `size` numbers that tells which words of the vocabulary a text has. */
export function toVector(text: string, size = vocabulary.length): number[] {
  return Array.from(
    { length: size },
    (_, at) => text.toLowerCase().split(vocabulary[at] ?? "\0").length - 1 + 0.01,
  );
}

/** Answers as an embedding server of the common format does, with vectors of `size` numbers. */
export function embeddings(size?: number): Script {
  return async (exchange) => {
    const { input } = exchange.request.body as { input: string[] };
    const data = input.map((text, index) => ({ index, embedding: toVector(text, size) }));
    await json({ object: "list", data })(exchange);
  };
}

/** A server whose embeddings work until a test says otherwise. */
export async function startEmbeddingServer(): Promise<Upstream> {
  const upstream = await startUpstream();
  upstream.always("/embeddings", embeddings());
  return upstream;
}

/** Variables that let the platform embed there. */
export const serverVariables = (upstream: Upstream) => ({
  RAG_EMBEDDING_ENGINE: "openai",
  RAG_EMBEDDING_MODEL: "counting",
  RAG_OPENAI_API_BASE_URL: upstream.url,
  RAG_OPENAI_API_KEY: "key-1",
});
