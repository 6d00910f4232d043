// Plain JavaScript, because walkthroughs start older versions of Node as well.

/**
 * Makes `new Date()` and `Date.now()` differ from the machine's clock by `clock.shift` milliseconds, and returns the
 * machine's own. Stands alone: pages get its text.
 */
export function moveDate(clock) {
  const Machine = globalThis.Date;
  const machineNow = Machine.now.bind(Machine);
  const now = () => machineNow() + clock.shift;
  Machine.now = now;
  globalThis.Date = new Proxy(Machine, {
    construct: (target, args, self) => Reflect.construct(target, args.length === 0 ? [now()] : args, self),
    apply: () => new Machine(now()).toString(),
  });
  Machine.prototype.constructor = globalThis.Date;
  return machineNow;
}
