/** Bytes that are put together and written at a time. */
const atATime = 512 * 1024;

/**
 * A long body of a request that lies in many pieces. It is put together while it is sent: in one go that would stop
 * everything else for a moment, and the upstream would hear nothing before it.
 */
export class Pieces implements Iterable<Uint8Array> {
  readonly #pieces: readonly Buffer[];
  readonly byteLength: number;

  constructor(pieces: readonly Buffer[]) {
    this.#pieces = pieces;
    this.byteLength = pieces.reduce((sum, piece) => sum + piece.length, 0);
  }

  *[Symbol.iterator](): Iterator<Buffer> {
    let gathered: Buffer[] = [];
    let size = 0;
    for (const piece of this.#pieces) {
      gathered.push(piece);
      size += piece.length;
      if (size >= atATime) {
        yield Buffer.concat(gathered, size);
        gathered = [];
        size = 0;
      }
    }
    if (size > 0) {
      yield Buffer.concat(gathered, size);
    }
  }

  toString(): string {
    return Buffer.concat(this.#pieces).toString("utf8");
  }
}
