// `npm run build`: builds the interface when its sources changed since the last build.
import { ensureInterface, isFresh } from "./interface.mjs";

await ensureInterface();
process.exit(isFresh() ? 0 : 1);
