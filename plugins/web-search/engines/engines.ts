import type { WebSearchEngine } from "../service.ts";
import type { EngineParts } from "./ask.ts";
import { createBing } from "./bing.ts";
import { createBrave } from "./brave.ts";
import { createExa } from "./exa.ts";
import { createExternal } from "./external.ts";
import { createFirecrawl } from "./firecrawl.ts";
import { createGooglePse } from "./google-pse.ts";
import { createJina } from "./jina.ts";
import { createKagi } from "./kagi.ts";
import { createSearxng } from "./searxng.ts";
import { createSerpapi } from "./serpapi.ts";
import { createSerper } from "./serper.ts";
import { createTavily } from "./tavily.ts";

/** The engines of the platform, in the order in which people see them. */
export function createEngines(parts: EngineParts): readonly WebSearchEngine[] {
  return [
    createSearxng(parts),
    createBrave(parts),
    createTavily(parts),
    createExa(parts),
    createKagi(parts),
    createGooglePse(parts),
    createBing(parts),
    createJina(parts),
    createFirecrawl(parts),
    createSerper(parts),
    createSerpapi(parts),
    createExternal(parts),
  ];
}
