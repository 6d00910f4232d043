/** Bytes of a single buffer: streams of pages, fonts and tables of a PDF are smaller. */
const largest = 32 * 1024 * 1024;

/** What was refused while buffers were limited. */
export interface BufferLimit {
  /** True once a buffer was refused; libraries go on without what they could not unpack. */
  readonly isExceeded: boolean;
  restore(): void;
}

/**
 * Refuses large buffers to a library that unpacks whatever it is given, however its streams are packed into each other:
 * one larger than any stream of a sound document, and any once all of them together are larger than `total` bytes. Holds
 * for this thread until it is restored; bytes that are given to the constructor, as copies are, do not count.
 */
export function limitBuffers(total: number): BufferLimit {
  const { Uint8Array: original, DecompressionStream: stream } = globalThis;
  let left = total;
  let isExceeded = false;
  const limited: Uint8ArrayConstructor = new Proxy(original, {
    construct(target, args, newTarget): Uint8Array {
      if (typeof args[0] === "number") {
        left -= args[0];
        if (args[0] > largest || left < 0) {
          isExceeded = true;
          throw new RangeError("The buffer is larger than a document may take.");
        }
      }
      return Reflect.construct(target, args, newTarget === limited ? target : newTarget) as Uint8Array;
    },
  });
  globalThis.Uint8Array = limited;
  // It unpacks as a whole before anybody sees how much that is; libraries have code of their own for systems without it.
  Reflect.deleteProperty(globalThis, "DecompressionStream");
  return {
    get isExceeded() {
      return isExceeded;
    },
    restore() {
      globalThis.Uint8Array = original;
      globalThis.DecompressionStream = stream;
    },
  };
}
