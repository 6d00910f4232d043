const pageBytes = 65_536;

/**
 * Bounds every memory that this worker makes from now on: Python gets a MemoryError in place of more. Without it one list
 * could take the four gigabytes that 32 bits can name, and the tab with it.
 */
export function limitMemory(megabytes: number): void {
  const most = Math.floor((megabytes * 1024 * 1024) / pageBytes);
  const Native = WebAssembly.Memory;
  class Limited extends Native {
    constructor(descriptor: WebAssembly.MemoryDescriptor) {
      super({
        ...descriptor,
        maximum: Math.max(descriptor.initial, Math.min(descriptor.maximum ?? most, most)),
      });
    }
  }
  WebAssembly.Memory = Limited;
  // A memory that a module brings along has the module's own bound.
  const grow = Native.prototype.grow;
  Native.prototype.grow = function growWithin(this: WebAssembly.Memory, delta: number): number {
    if (this.buffer.byteLength / pageBytes + delta > most) {
      throw new RangeError("the limit of memory is reached");
    }
    return grow.call(this, delta);
  };
}
