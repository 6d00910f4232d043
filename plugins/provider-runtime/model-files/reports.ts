/**
 * Starts `work` and yields what it tells as events, as it comes. The work ends by itself, whether or not anybody
 * listens; what breaks it is thrown behind the last event.
 */
export function openReports(
  work: (tell: (report: unknown) => void) => Promise<void>,
): AsyncGenerator<string> {
  const waiting: string[] = [];
  let news = Promise.withResolvers<boolean>();
  const running = work((report) => {
    waiting.push(`data: ${JSON.stringify(report)}\n\n`);
    news.resolve(true);
  });
  const over = running.then(
    () => false,
    () => false,
  );

  async function* frames(): AsyncGenerator<string> {
    while (await Promise.race([news.promise, over])) {
      news = Promise.withResolvers<boolean>();
      yield waiting.splice(0).join("");
    }
    if (waiting.length > 0) {
      yield waiting.join("");
    }
    await running;
  }
  return frames();
}
