"use strict";

// The web side of Lockstep's invitations: subscribe, show the bell, follow a link.
// To use it elsewhere, change `api` and `token()`.

/** Same origin: a path that leads to the Lockstep API. */
const api = "/app/api";
/** How often the bell looks while the page is seen, in milliseconds. */
const lookEvery_ms = 5000;
const entriesShown = 20;

const texts = {
  de: {
    title: "Gemeinsam Essen planen", intro: "Lass dich benachrichtigen, wenn dich jemand zum Planen einlädt.",
    subscribe: "Mitteilungen einschalten", unsubscribe: "Ausschalten", on: "Mitteilungen sind an.", off: "",
    denied: "Dieser Browser darf keine Mitteilungen zeigen. Erlaube sie in den Einstellungen der Seite.",
    missing: "Dieser Browser kann keine Mitteilungen empfangen. Auf dem iPhone: zum Home-Bildschirm hinzufügen.",
    failed: "Einschalten ging nicht: ", inbox: "Mitteilungen", empty: "Noch keine Mitteilungen.",
    bell: (count) => count === 0 ? "Mitteilungen, keine neuen" : `Mitteilungen, ${count} neu`,
    over: { decided: "entschieden", cancelled: "beendet", left: "verlassen", ttl: "abgelaufen" }, overElse: "vorbei",
    signIn: "Anmelden", token: "Dein Token", go: "Weiter", withPartner: (name) => `mit ${name}`, join: "Mitplanen",
  },
  en: {
    title: "Plan dinner together", intro: "Get told when somebody invites you to plan.",
    subscribe: "Turn notifications on", unsubscribe: "Turn off", on: "Notifications are on.", off: "",
    denied: "This browser may not show notifications. Allow them in the site's settings.",
    missing: "This browser takes no notifications. On an iPhone: add to the Home Screen first.",
    failed: "That did not work: ", inbox: "Notifications", empty: "No notifications yet.",
    bell: (count) => count === 0 ? "Notifications, none new" : `Notifications, ${count} new`,
    over: { decided: "decided", cancelled: "ended", left: "left", ttl: "expired" }, overElse: "over",
    signIn: "Sign in", token: "Your token", go: "Continue", withPartner: (name) => `with ${name}`, join: "Join in",
  },
};
const language = navigator.language.startsWith("en") ? "en" : "de";
const words = texts[language];

const byId = (id) => document.getElementById(id);

/** The caller's JSON web token: from `#token=…`, which no server sees, then from this tab. */
function token() {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given) {
    sessionStorage.setItem("token", given);
    history.replaceState(null, "", location.pathname);
  }
  return sessionStorage.getItem("token");
}

async function call(method, path, { body, headers } = {}) {
  const answer = await fetch(api + path, {
    method, cache: "no-store", body: body && JSON.stringify(body),
    headers: {
      authorization: `Bearer ${token()}`, ...(body && { "content-type": "application/json" }), ...headers,
    },
  });
  if (answer.status === 401) signIn();
  if (!answer.ok && answer.status !== 304) {
    const problem = await answer.json().catch(() => ({}));
    throw new Error(problem.detail || `${answer.status}`);
  }
  return answer;
}

// MARK: Subscribing

const canSubscribe = "serviceWorker" in navigator && "PushManager" in window && "Notification" in window;

function bytes(base64url) {
  const plain = atob(base64url.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(plain, (character) => character.charCodeAt(0));
}

function isMadeWith(subscription, key) {
  const old = subscription.options?.applicationServerKey;
  if (!old) return true;
  const known = new Uint8Array(old);
  return known.length === key.length && known.every((octet, place) => octet === key[place]);
}

/** Makes sure that server and browser agree; with `force` it asks for a new subscription. */
async function subscribe(force = false) {
  const registration = await navigator.serviceWorker.ready;
  const { public_key: text } = await (await call("GET", "/webpush/public-key")).json();
  const key = bytes(text);
  let subscription = await registration.pushManager.getSubscription();
  // A subscription is bound to the key it was made with.
  if (subscription && (force || !isMadeWith(subscription, key))) {
    await subscription.unsubscribe();
    subscription = null;
  }
  subscription ??= await registration.pushManager.subscribe({
    userVisibleOnly: true, applicationServerKey: key,
  });
  const answer = await call("POST", "/webpush/subscriptions", { body: subscription.toJSON() });
  // The push service refused the server's key for this one.
  if ((await answer.json()).resubscribe && !force) return subscribe(true);
  showStatus(true, words.on);
}

async function unsubscribe() {
  const registration = await navigator.serviceWorker.ready;
  const subscription = await registration.pushManager.getSubscription();
  if (subscription) {
    await call("DELETE", "/webpush/subscriptions", { body: subscription.toJSON() });
    await subscription.unsubscribe();
  }
  showStatus(false, words.off);
}

function showStatus(isOn, text, isBad = false) {
  byId("subscribe").hidden = isOn;
  byId("unsubscribe").hidden = !isOn;
  byId("status").textContent = text;
  byId("status").className = isBad ? "status bad" : "status";
}

async function turnOn() {
  try {
    // Must be asked for from a click.
    if (await Notification.requestPermission() !== "granted") return showStatus(false, words.denied, true);
    await subscribe();
  } catch (error) {
    showStatus(false, words.failed + error.message, true);
  }
}

async function startSubscribing() {
  if (!canSubscribe) return showStatus(false, words.missing, true);
  const registration = await navigator.serviceWorker.register("/app/service-worker.js", { scope: "/" });
  navigator.serviceWorker.addEventListener("message", ({ data }) => {
    if (data.kind === "push") look();
    if (data.kind === "open") location.assign(data.url);
    if (data.kind === "resubscribe") subscribe(true).catch(() => {});
  });
  if (Notification.permission === "denied") return showStatus(false, words.denied, true);
  showStatus(false, words.off);
  // Told again at each start: the server may have lost it, or marked it as to be made anew.
  if (await registration.pushManager.getSubscription()) await subscribe();
}

// MARK: The bell

let etag = null;
let entries = [];

async function look() {
  if (!token()) return;
  try {
    const answer = await call("GET", `/notifications?limit=${entriesShown}`, {
      headers: etag ? { "if-none-match": etag } : {},
    });
    if (answer.status === 304) return;
    etag = answer.headers.get("etag");
    entries = (await answer.json()).notifications;
    showBell();
    await takeBack();
    if (isOpen()) await markSeen();
  } catch {
    // The bell shows what it showed; the next look may work.
  }
}

const isOpen = () => byId("bell").getAttribute("aria-expanded") === "true";
const isUnread = (entry) => !entry.resolved && !entry.seen_at;

function showBell() {
  const count = entries.filter(isUnread).length;
  byId("badge").textContent = count > 9 ? "9+" : String(count);
  byId("badge").hidden = count === 0;
  byId("bell-words").textContent = words.bell(count);
  byId("bell").title = words.bell(count);
  if (count) navigator.setAppBadge?.(count); else navigator.clearAppBadge?.();
  byId("inbox-empty").hidden = entries.length > 0;
  byId("entries").replaceChildren(...entries.map(drawEntry));
}

function make(tag, className, text) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

function drawEntry(entry) {
  const item = make("li", [entry.resolved && "resolved", isUnread(entry) && "unread"].filter(Boolean).join(" "));
  item.dataset.key = entry.dedupe_key;
  const link = make("a");
  link.href = entry.link;
  const icon = make("span", "icon", entry.icon);
  icon.setAttribute("aria-hidden", "true");
  const text = make("span", "words");
  text.append(make("b", "", entry.title), make("span", "", entry.body));
  const moment = new Date(entry.created_at).toLocaleTimeString(language, { hour: "2-digit", minute: "2-digit" });
  const note = make("small", "", moment);
  if (entry.resolved) note.append(" · ", words.over[entry.resolved_reason] || words.overElse);
  text.append(note);
  link.append(icon, text);
  link.addEventListener("click", () => {
    // The page is about to leave; the call goes on without it.
    fetch(`${api}/notifications/${encodeURIComponent(entry.id)}/read`, {
      method: "POST", keepalive: true, headers: { authorization: `Bearer ${token()}` },
    });
  });
  item.append(link);
  return item;
}

/** What is over needs no notification any more. */
async function takeBack() {
  const registration = await navigator.serviceWorker?.getRegistration("/");
  for (const entry of entries.filter((one) => one.resolved))
    for (const shown of await registration?.getNotifications({ tag: entry.dedupe_key }) || []) shown.close();
}

async function markSeen() {
  const unread = entries.filter(isUnread);
  for (const entry of unread) await call("POST", `/notifications/${encodeURIComponent(entry.id)}/seen`);
}

async function toggleInbox() {
  const opens = !isOpen();
  byId("bell").setAttribute("aria-expanded", String(opens));
  byId("inbox").hidden = !opens;
  if (!opens) return look();
  await markSeen().catch(() => {});
}

// MARK: Where a link leads

async function showSession() {
  const match = location.pathname.match(/^\/cook-suggest\/([^/]+)$/);
  if (!match) return;
  byId("welcome").hidden = true;
  byId("session").hidden = false;
  const path = `/cook-suggest/sessions/${match[1]}`;
  try {
    const session = await (await call("GET", path)).json();
    drawSession(session);
    byId("join").onclick = async () => drawSession(await (await call("POST", `${path}/join`)).json());
  } catch (error) {
    byId("session-label").textContent = error.message;
  }
}

function drawSession(session) {
  const me = JSON.parse(new TextDecoder().decode(bytes(token().split(".")[1]))).sub;
  const partner = session.participants.find((one) => one.user_id !== me);
  const mine = session.participants.find((one) => one.user_id === me);
  const day = new Date(`${session.date}T12:00:00`);
  byId("session-date").textContent = day.toLocaleDateString(language, { weekday: "long", day: "numeric", month: "long" });
  byId("session-label").textContent = session.status_label;
  byId("session-partner").textContent = partner?.name ? words.withPartner(`${partner.emoji || ""} ${partner.name}`) : "";
  byId("session").classList.toggle("over", Boolean(session.ended));
  byId("join").hidden = Boolean(session.ended) || mine?.status !== "invited";
}

// MARK: Start

function signIn() {
  byId("sign-in").hidden = false;
  byId("welcome").hidden = true;
}

function label() {
  const labels = {
    "welcome-title": words.title, "welcome-words": words.intro, subscribe: words.subscribe,
    unsubscribe: words.unsubscribe, "inbox-title": words.inbox, "inbox-empty": words.empty,
    "sign-in-title": words.signIn, "sign-in-label": words.token, "sign-in-button": words.go, join: words.join,
    "bell-words": words.bell(0),
  };
  for (const [id, text] of Object.entries(labels)) byId(id).textContent = text;
  document.documentElement.lang = language;
}

label();
byId("bell").addEventListener("click", toggleInbox);
byId("subscribe").addEventListener("click", turnOn);
byId("unsubscribe").addEventListener("click", () => unsubscribe().catch((error) => showStatus(true, error.message, true)));
byId("sign-in").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem("token", byId("token").value.trim());
  location.reload();
});
if (token()) {
  startSubscribing().catch((error) => showStatus(false, words.failed + error.message, true));
  showSession();
  look();
  setInterval(() => document.visibilityState === "visible" && look(), lookEvery_ms);
  document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && look());
} else {
  signIn();
}
