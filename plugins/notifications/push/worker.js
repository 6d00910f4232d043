// Service worker for web push alone: it answers no requests, so its scope can be the path it is served from.

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

const windows = () => self.clients.matchAll({ type: "window", includeUncontrolled: true });

self.addEventListener("push", (event) => {
  const message = event.data?.json() ?? {};
  event.waitUntil(
    windows().then((open) =>
      // A person who looks at the platform sees the notification there.
      open.some(({ focused }) => focused)
        ? undefined
        : self.registration.showNotification(message.title ?? "", {
            body: message.body,
            tag: message.id,
            icon: "/icons/192.png",
            data: { path: message.path },
          }),
    ),
  );
});

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  const path = event.notification.data?.path ?? "/notifications";
  event.waitUntil(self.clients.openWindow(new URL(path, self.location.origin).href));
});
