import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { toasts } from "#plugins/web/kit/stores/toasts.svelte.ts";
import { isOn, type OwnServer, ownServers } from "./own-servers.svelte.ts";

/** Servers whose failure was told: each is told once, not with every message. */
const told = new Set<string>();

/** The part of a completion's request that names the person's own tool servers (contract §3.1). */
export async function toPart(): Promise<Record<string, unknown>> {
  await ownServers.load();
  ownServers.list.filter(isOn).forEach(tell);
  const servers = ownServers.toRequest();
  return servers.length === 0 ? {} : { tool_servers: servers };
}

/** Says that a server's tools are missing, and why: the model would act as if there were none. */
function tell(own: OwnServer): void {
  const failure = ownServers.states[own.url]?.failure;
  if (failure === undefined || told.has(own.url)) {
    return;
  }
  told.add(own.url);
  toasts.show({
    kind: "warning",
    seconds: 12,
    text: t("Sent without the tools of {name}. {reason}", { name: hostOf(own), reason: failure }),
    action: { title: t("Try again"), run: () => retry(own) },
  });
}

async function retry(own: OwnServer): Promise<void> {
  told.delete(own.url);
  await ownServers.ask(own);
  if (ownServers.states[own.url]?.failure === undefined) {
    toasts.show({
      kind: "good",
      text: t("The tools of {name} are here from the next message on.", { name: hostOf(own) }),
    });
  } else {
    tell(own);
  }
}

const hostOf = ({ url }: OwnServer): string => URL.parse(url)?.host ?? url;
