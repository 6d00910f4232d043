/** Milliseconds that this thread itself has spent on a processor: other work of a busy machine does not count. */
export function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
