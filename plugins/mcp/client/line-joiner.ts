const newline = 10;

/**
 * Passes bytes on at line ends only. The event parser of the SDK searches its whole remainder at every piece, which is
 * quadratic for a result of many megabytes on one line.
 */
export function createLineJoiner(): TransformStream<Uint8Array, Uint8Array> {
  let held: Uint8Array[] = [];
  return new TransformStream({
    transform(piece, controller) {
      const end = piece.lastIndexOf(newline) + 1;
      if (end === 0) {
        held.push(piece);
        return;
      }
      controller.enqueue(Buffer.concat([...held, piece.subarray(0, end)]));
      held = end < piece.length ? [piece.subarray(end)] : [];
    },
    flush(controller) {
      if (held.length > 0) {
        controller.enqueue(Buffer.concat(held));
      }
    },
  });
}
