// How a browser with its notifications, and the bell of an app, are drawn. No state of its own.
const bellShape = "M12 3a6 6 0 0 0-6 6v4.200L4.300 16.500a.7.7 0 0 0 .6 1h14.200a.7.7 0 0 0 .6-1L18 13.200V9a6 6 0 0 0-6-6zm-2.400 16.200a2.500 2.500 0 0 0 4.800 0";
const overWords = { decided: "entschieden", cancelled: "beendet", left: "verlassen", ttl: "abgelaufen" };
const bellEntriesShown = 3;

function drawEntry(entry) {
  const item = make("li", entry.resolved ? "over" : entry.seen_at ? "" : "unread");
  const words = make("span", "words");
  words.append(make("b", "", entry.title));
  const note = entry.resolved ? overWords[entry.resolved_reason] || "vorbei" : entry.body;
  words.append(make("small", "", note));
  item.append(make("span", "icon", entry.icon), words);
  item.title = entry.link;
  return item;
}

function fillBell(element, bell, owner) {
  element.hidden = !bell;
  if (!bell) return;
  const head = make("div", "head");
  const face = make("span", "face");
  face.append(drawing(bellShape));
  if (bell.unread) face.append(make("i", "", String(bell.unread)));
  face.setAttribute("role", "img");
  face.setAttribute("aria-label", `Bell of ${owner}: ${bell.unread} unread`);
  const count = bell.notifications.length;
  head.append(face, make("span", "", count ? `${bell.unread} neu` : "keine Mitteilungen"));
  const list = make("ol");
  list.lang = "de";
  list.append(...bell.notifications.slice(0, bellEntriesShown).map(drawEntry));
  element.replaceChildren(head, list);
}

function newBrowser() {
  const element = make("article", "browser");
  const frame = make("div", "frame");
  const bar = make("div", "address");
  bar.append(make("i"), make("i"), make("i"), make("span"));
  const view = make("div", "view");
  view.lang = "de";
  frame.append(bar, view, make("div", "bell"));
  element.append(frame, make("div", "tools"));
  return element;
}

function drawToast(notification, isOver) {
  const toast = make("div", `toast${isOver ? " over" : ""}`);
  const icon = make("span", "icon", notification.data_icon || "🔔");
  icon.setAttribute("aria-hidden", "true");
  const words = make("div");
  words.append(make("b", "", notification.title), make("p", "", notification.body));
  const link = make("small", "", new URL(notification.navigate).pathname);
  link.title = notification.navigate;
  words.append(link);
  toast.append(icon, words, make("time", "", hours.format(new Date(notification.shown_at))));
  return toast;
}

function fillBrowser(element, browser) {
  element.className = `browser${browser.online ? "" : " offline"}`;
  element.setAttribute("aria-label", `Browser of ${browser.name}`);
  element.querySelector(".address span").textContent = "Was koch ich draus?";
  const over = new Set((browser.bell?.notifications || []).filter((entry) => entry.resolved)
    .map((entry) => entry.dedupe_key));
  const toasts = browser.notifications.slice(0, 3).map((one) => drawToast(one, over.has(one.dedupe_key)));
  element.querySelector(".view").replaceChildren(
    ...toasts.length ? toasts : [make("p", "none", "Keine Mitteilungen")]);
  fillBell(element.querySelector(".bell"), browser.bell, browser.name);
  const title = make("h2", "", browser.name);
  const held = browser.held === 1 ? "one push waits" : `${browser.held} pushes wait`;
  const more = !browser.subscribed ? "unsubscribed"
    : browser.online ? "browser" : browser.held ? `offline, ${held}` : "offline";
  title.append(make("small", "", more));
  const turn = browser.online ? "offline" : "online";
  const act = (what) => tell(`/browsers/${encodeURIComponent(browser.id)}/${what}`);
  const tools = [title, button(`Go ${turn}`, `Let ${browser.name}'s browser go ${turn}`, () => act(turn))];
  if (browser.subscribed)
    tools.push(button("Unsubscribe", `Unsubscribe ${browser.name}'s browser`, () => act("unsubscribe")));
  element.querySelector(".tools").replaceChildren(...tools);
}
