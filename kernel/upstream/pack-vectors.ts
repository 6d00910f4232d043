type Bag = Readonly<Record<string, unknown>>;

/** Little-endian 32-bit floats, as the common embeddings format packs them. */
export function toBase64(vector: readonly number[]): string {
  const bytes = Buffer.allocUnsafe(4 * vector.length);
  vector.forEach((value, at) => bytes.writeFloatLE(value, 4 * at));
  return bytes.toString("base64");
}

/**
 * A common embeddings answer with its vectors in base64, for upstreams that do not know the format their caller asked
 * for; the very same text where there is nothing to pack.
 */
export function packVectors(text: string): string {
  if (!/"embedding"\s*:\s*\[/.test(text)) {
    return text;
  }
  let answer: Bag;
  try {
    answer = JSON.parse(text) as Bag;
  } catch {
    return text;
  }
  const data = Array.isArray(answer["data"]) ? (answer["data"] as Bag[]) : [];
  const packed = data.map((entry) =>
    isVector(entry["embedding"]) ? { ...entry, embedding: toBase64(entry["embedding"]) } : entry,
  );
  return JSON.stringify({ ...answer, data: packed });
}

function isVector(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((each) => typeof each === "number");
}
