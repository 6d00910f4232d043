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

  /**
   * What is given holds until the next but one is asked for: two rooms are filled in turn. New ones each time, of half a
   * megabyte, would have the engine look through all of its memory after every long conversation.
   */
  *[Symbol.iterator](): Iterator<Buffer> {
    const most = Math.min(atATime, this.byteLength);
    let [room, other] = [Buffer.allocUnsafeSlow(most), Buffer.allocUnsafeSlow(most)];
    let size = 0;
    for (const piece of this.#pieces) {
      for (let from = 0; from < piece.length;) {
        const copied = piece.copy(room, size, from);
        from += copied;
        size += copied;
        if (size === most) {
          yield room;
          [room, other, size] = [other, room, 0];
        }
      }
    }
    if (size > 0) {
      yield room.subarray(0, size);
    }
  }

  toString(): string {
    return Buffer.concat(this.#pieces).toString("utf8");
  }
}
