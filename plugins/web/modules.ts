import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "#kernel/log.ts";
import type { DeclaredPage } from "#kernel/services.ts";

/** Where browsers find the module of a page; null for a page of the project, which comes with the built interface. */
export function moduleUrl({ plugin, page, folder }: DeclaredPage): string | null {
  return folder === undefined ? null : `/plugins/${plugin}/${page.id}.js`;
}

/** The module's text as it stands in the plugin's folder now; undefined when it is not there. */
export async function readModule(declared: DeclaredPage): Promise<Buffer | undefined> {
  const file = moduleFile(declared);
  return file === undefined ? undefined : readFile(file).catch(() => undefined);
}

/** Logs pages without a module at the start; otherwise only opening one shows it. */
export function warnOfMissingModules(pages: readonly DeclaredPage[], log: Logger): void {
  for (const declared of pages) {
    const file = moduleFile(declared);
    if (file !== undefined && declared.isEnabled() && !existsSync(file)) {
      const { plugin, page } = declared;
      log.warn({ plugin, page: page.id, file }, "a page has no module: write the file, which exports mount");
    }
  }
}

function moduleFile({ page, folder }: DeclaredPage): string | undefined {
  return folder === undefined ? undefined : join(folder, "web", `${page.id}.js`);
}
