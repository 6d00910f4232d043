/** Bytes copied and written at a time. */
const atATime = 512 * 1024;

/**
 * A long request body in many pieces, joined while it is sent: joining a body of megabytes at once would block the event
 * loop and delay the first byte.
 */
export class SegmentedBody implements Iterable<Uint8Array> {
  readonly #pieces: readonly Buffer[];
  readonly byteLength: number;

  constructor(pieces: readonly Buffer[]) {
    this.#pieces = pieces;
    this.byteLength = pieces.reduce((sum, piece) => sum + piece.length, 0);
  }

  /**
   * Two buffers are filled in turn, so a yielded one holds until the next but one is asked for. A new buffer of half a
   * megabyte each time would trigger a full garbage collection after every long conversation.
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
