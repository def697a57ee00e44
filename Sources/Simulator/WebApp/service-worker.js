"use strict";

// Shows what Lockstep pushes, and opens what a notification leads to. Browsers with Declarative
// Web Push show the same JSON by themselves; for them this only sets the badge and tells the pages.

const magic = 8030;
const fallback = { title: "Was koch ich draus?", navigate: "/app/" };

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

/** What to show for a push, whatever it holds: a push that shows nothing costs the subscription. */
function read(data) {
  let json;
  try {
    json = data.json();
  } catch {
    return { notification: fallback };
  }
  const isOurs = json?.web_push === magic && typeof json.notification?.title === "string"
    && typeof json.notification.navigate === "string";
  return isOurs ? json : { notification: fallback };
}

async function pages() {
  const all = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  return all.filter((page) => /^\/(app|cook-suggest)(\/|$)/.test(new URL(page.url).pathname));
}

async function show(push) {
  const { notification, app_badge: badge } = push;
  const { title, navigate, body, lang, dir, tag, icon, silent, data, actions } = notification;
  await self.registration.showNotification(title, {
    body, lang, dir, tag, icon, badge: icon, silent, actions,
    data: { ...data, navigate, navigates: Object.fromEntries((actions || []).map((a) => [a.action, a.navigate])) },
  });
  // Not every browser has badges.
  if (badge !== undefined) await self.navigator.setAppBadge?.(badge);
  for (const page of await pages()) page.postMessage({ kind: "push", tag });
}

self.addEventListener("push", (event) => event.waitUntil(show(event.notification ? declared(event) : read(event.data))));

/** A browser that read the JSON itself hands the worker its notification instead of data. */
function declared(event) {
  const { title, body, lang, dir, tag, icon, silent, data, navigate } = event.notification;
  return { notification: { title, body, lang, dir, tag, icon, silent, data, navigate }, app_badge: event.appBadge ?? undefined };
}

/** Opens the link in a page of ours if there is one, else in a new one. */
async function open(url) {
  const target = new URL(url, self.location.origin);
  const [page] = target.origin === self.location.origin ? await pages() : [];
  if (!page) return self.clients.openWindow(target.href);
  // A page that this worker does not control cannot be led by it, but can be told.
  const led = await page.navigate(target.href).catch(() => page.postMessage({ kind: "open", url: target.href }));
  // Browsers may refuse; the page is where it should be all the same.
  await (led || page).focus().catch(() => {});
}

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  const { navigate, navigates } = event.notification.data || {};
  event.waitUntil(open(navigates?.[event.action] || navigate || fallback.navigate));
});

// The browser changed the subscription by itself: only a page may call the API, so it is told.
self.addEventListener("pushsubscriptionchange", (event) =>
  event.waitUntil(pages().then((all) => all.forEach((page) => page.postMessage({ kind: "resubscribe" })))));
