import type { Api } from "#plugins/catalogue.ts";
import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { server } from "#plugins/web/kit/server.ts";

export type PushBrowser = Api["GET /api/v1/notifications/push"]["answer"]["subscriptions"][number];

// The worker answers no requests, so that its scope may be the folder of its own path.
const worker = "/api/v1/notifications/worker.js";
const rememberedId = "notifications.push-id";

/** Web push to the browsers of the person, this one among them. */
export class PushBrowsers {
  all = $state.raw<readonly PushBrowser[]>();
  /** The id of this browser; undefined while it takes none. */
  here = $state<string>();
  #publicKey = "";

  /** Why this browser cannot take web push; undefined when it can. */
  readonly obstacle = $derived.by(() => {
    if (!("serviceWorker" in navigator) || !("PushManager" in globalThis)) {
      return globalThis.isSecureContext
        ? t("This browser knows no web push. On iPhones, add the page to the home screen first.")
        : t("Web push needs an address that begins with https.");
    }
    return undefined;
  });

  async load(): Promise<void> {
    const { public_key: publicKey, subscriptions } = await server.call("GET /api/v1/notifications/push");
    this.#publicKey = publicKey;
    this.all = subscriptions;
    const id = localStorage.getItem(rememberedId) ?? undefined;
    this.here = subscriptions.some((one) => one.id === id) ? id : undefined;
  }

  async subscribe(): Promise<void> {
    if ((await Notification.requestPermission()) !== "granted") {
      throw new Error(
        t("The browser does not allow notifications for this site. Allow them in its settings."),
      );
    }
    const registration = await navigator.serviceWorker.register(worker);
    await ready(registration);
    // A subscription for another key, as after a move, cannot be used.
    await (await registration.pushManager.getSubscription())?.unsubscribe();
    const subscription = await registration.pushManager.subscribe({
      userVisibleOnly: true,
      applicationServerKey: this.#publicKey,
    });
    const { endpoint = "", keys } = subscription.toJSON();
    const { id } = await server.call("POST /api/v1/notifications/push", {
      body: {
        name: nameOfBrowser(),
        endpoint,
        keys: { p256dh: keys?.["p256dh"] ?? "", auth: keys?.["auth"] ?? "" },
      },
    });
    localStorage.setItem(rememberedId, id);
    await this.load();
  }

  async remove(id: string): Promise<void> {
    if (id === this.here) {
      const registration = await navigator.serviceWorker.getRegistration(worker);
      await (await registration?.pushManager.getSubscription())?.unsubscribe();
      localStorage.removeItem(rememberedId);
    }
    await server.call("DELETE /api/v1/notifications/push/:id", { params: { id } });
    await this.load();
  }

  async test(): Promise<number> {
    return (await server.call("POST /api/v1/notifications/push/test")).count;
  }
}

/** Resolves once the worker of a registration is active; `serviceWorker.ready` waits for one that controls the page. */
async function ready({ active, installing, waiting }: ServiceWorkerRegistration): Promise<void> {
  const coming = installing ?? waiting;
  if (active !== null || coming === null) {
    return;
  }
  await new Promise<void>((resolve) => {
    coming.addEventListener("statechange", () => {
      if (coming.state === "activated" || coming.state === "redundant") {
        resolve();
      }
    });
  });
}

function nameOfBrowser(): string {
  const { userAgent } = navigator;
  const browser = /Edg\//.test(userAgent)
    ? "Edge"
    : /Firefox\//.test(userAgent)
      ? "Firefox"
      : /Chrome\//.test(userAgent)
        ? "Chrome"
        : /Safari\//.test(userAgent)
          ? "Safari"
          : t("Browser");
  const system = /Android|iPhone|iPad|Windows|Mac OS X|Linux/.exec(userAgent)?.[0];
  return system ? `${browser}, ${system.replace("Mac OS X", "macOS")}` : browser;
}
