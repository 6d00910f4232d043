// Another process for tests: node process.fixture.ts <folder> open|lock|write. Tells its parent what happened and stays.
import { openDatabase } from "./database.ts";
import { lockFolder } from "./embedded/lock.ts";

const [dataDir = "", task] = process.argv.slice(2);
const tell = (message: string) => void process.send?.(message);
// Keeps the process until its parent ends it.
setInterval(() => {}, 60_000);
process.on("disconnect", () => process.exit(0));

try {
  if (task === "lock") {
    await lockFolder(dataDir, () => {});
    tell("locked");
  } else {
    const database = await openDatabase({ dataDir });
    if (task === "open") {
      tell("opened");
    } else {
      const { rows } = await database.query("select coalesce(max(jti::int), 0) as last from revoked_token");
      for (let next = Number(rows[0].last) + 1; ; next += 1) {
        await database.db
          .insertInto("revoked_token")
          .values({ jti: String(next), expires_at: 0 })
          .execute();
        tell(String(next));
      }
    }
  }
} catch (error) {
  tell((error as Error).message);
}
