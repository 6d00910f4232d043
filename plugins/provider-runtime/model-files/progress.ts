/**
 * Starts `work` and yields its reports as events. The work goes on when the reader leaves; its error is thrown after the
 * last event.
 */
export function streamProgress(
  work: (report: (value: unknown) => void) => Promise<void>,
): AsyncGenerator<string> {
  const pending: string[] = [];
  let arrival = Promise.withResolvers<boolean>();
  const running = work((value) => {
    pending.push(`data: ${JSON.stringify(value)}\n\n`);
    arrival.resolve(true);
  });
  const ended = running.then(
    () => false,
    () => false,
  );

  async function* frames(): AsyncGenerator<string> {
    while (await Promise.race([arrival.promise, ended])) {
      arrival = Promise.withResolvers<boolean>();
      yield pending.splice(0).join("");
    }
    if (pending.length > 0) {
      yield pending.join("");
    }
    await running;
  }
  return frames();
}
