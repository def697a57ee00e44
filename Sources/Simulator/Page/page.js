// The page: phones, timeline of pushes, verdict; told by server-sent events.

const pushesShownMax = 80;
const phones = new Map();
const browsers = new Map();
const androids = new Map();
const byId = (id) => document.getElementById(id);

function newPhone(phone) {
  const element = make("article", "phone");
  const paper = wallpapers[phones.size % wallpapers.length];
  ["--sky", "--sun", "--earth"].forEach((name, at) => element.style.setProperty(name, paper[at]));
  const screen = make("div", "screen");
  screen.lang = "de";
  const status = make("div", "status");
  const time = make("div", "time");
  time.append(make("div", "date"), make("div", "clock"));
  const foot = make("div", "foot");
  for (const shape of [shapes.torch, shapes.camera]) {
    const round = make("span", "round");
    round.append(drawing(shape));
    foot.append(round);
  }
  const body = make("div", "body");
  screen.append(status, make("div", "island"), time, make("div", "stack"), foot, make("div", "home"));
  body.append(screen);
  element.append(body, make("div", "bell"), make("div", "tools"));
  // Phones first, then Android phones, then browsers.
  byId("phones").insertBefore(element, byId("phones").querySelector(".android, .browser"));
  return element;
}

async function tell(path) {
  const answer = await fetch(path, { method: "POST" });
  if (!answer.ok) showLink("off", `${path}: ${answer.status}`);
}

const act = (id, what) => tell(`/phones/${encodeURIComponent(id)}/${what}`);

function button(words, label, run) {
  const element = make("button", "", words);
  element.type = "button";
  element.setAttribute("aria-label", label);
  element.addEventListener("click", run);
  return element;
}

function fillTools(tools, phone) {
  const key = `${phone.online} ${phone.installed} ${phone.held} ${phone.cards.length > 0}`;
  if (tools.dataset.key === key) return;
  tools.dataset.key = key;
  const title = make("h2", "", phone.name);
  const more = phone.installed
    ? phone.online ? phone.id : phone.held ? "offline, one push waits at APNs" : "offline"
    : "app uninstalled";
  title.append(make("small", "", more));
  tools.replaceChildren(title);
  if (!phone.installed) return;
  const turn = phone.online ? "offline" : "online";
  tools.append(button(`Go ${turn}`, `Let ${phone.name}'s phone go ${turn}`, () => act(phone.id, turn)));
  if (phone.cards.length)
    tools.append(button("Swipe away", `Dismiss the cards of ${phone.name}`, () => act(phone.id, "dismiss")));
  tools.append(button("Uninstall", `Uninstall the app of ${phone.name}`, () => act(phone.id, "uninstall")));
}

function showPhone(phone) {
  const element = phones.get(phone.id)?.element || newPhone(phone);
  phones.set(phone.id, { element, phone });
  element.className = `phone${phone.online ? "" : " offline"}${phone.installed ? "" : " gone"}`;
  element.setAttribute("aria-label", `Phone of ${phone.name}`);
  const right = make("span");
  right.append(
    drawing(phone.online ? shapes.waves : shapes.plane, phone.online ? "0 2 24 18" : "0 2 24 20"),
    drawing(shapes.battery, "0 2 34 16"));
  element.querySelector(".status").replaceChildren(make("span", "", phone.name), right);
  fillStack(element.querySelector(".stack"), phone);
  fillBell(element.querySelector(".bell"), phone.bell, phone.name);
  fillTools(element.querySelector(".tools"), phone);
}

function showBrowser(browser) {
  const element = browsers.get(browser.id)?.element || newBrowser();
  if (!browsers.has(browser.id)) byId("phones").append(element);
  browsers.set(browser.id, { element, browser });
  fillBrowser(element, browser);
}

function showAndroid(phone) {
  const known = androids.get(phone.id);
  const element = known?.element || newAndroid();
  if (!known) {
    const paper = wallpapers[(androids.size + 4) % wallpapers.length];
    ["--sky", "--sun", "--earth"].forEach((name, at) => element.style.setProperty(name, paper[at]));
    byId("phones").insertBefore(element, byId("phones").querySelector(".browser"));
  }
  androids.set(phone.id, { element, phone });
  fillAndroid(element, phone);
}

function tick() {
  const now = new Date();
  const [date, clock] = [german.format(now), hours.format(now)];
  for (const { element } of [...phones.values(), ...androids.values()]) {
    element.querySelector(".time .date").textContent = date;
    element.querySelector(".time .clock").textContent = clock;
  }
  moveBars();
}

let counted = 0;
function showPush(push) {
  counted = Math.max(counted, push.number);
  const item = make("li", "fresh");
  const owner = phones.get(push.phone) || androids.get(push.phone);
  if (owner) item.style.setProperty("--sky", owner.element.style.getPropertyValue("--sky"));
  const what = make("span");
  const name = owner?.phone.name || browsers.get(push.phone)?.browser.name || push.phone || `${push.token}…`;
  what.append(make("span", "kind", push.event || push.push_type || "?"), " ", make("span", "who", name));
  const isGood = push.status === 200 || push.status === 201;
  const code = make("span", `code ${isGood ? "good" : "bad"}`, String(push.status ?? push.fault ?? "none"));
  const notes = [exact.format(new Date(push.at))];
  if (push.rev != null) notes.push(`rev ${push.rev}`);
  if (push.priority != null) notes.push(`prio ${push.priority}`);
  if (push.reason) notes.push(push.reason);
  else if (push.fault) notes.push(push.fault);
  // The state's stamp has whole seconds: less than one says nothing.
  const age = push.age_ms == null ? "" : push.age_ms < 1000 ? "< 1 s" : `${(push.age_ms / 1000).toFixed(1)} s`;
  item.append(what, code, make("span", "note", notes.join(" · ")), make("span", "ms", age));
  const list = byId("pushes");
  list.prepend(item);
  while (list.children.length > pushesShownMax) list.lastChild.remove();
  byId("quiet").hidden = true;
}

function showFigures() {
  const shown = [...phones.values()].flatMap(({ phone }) => phone.cards).length
    + [...androids.values()].flatMap(({ phone }) => phone.cards)
      .filter((card) => card.standing !== "dismissed").length;
  const word = (count, name) => `${count} ${name}${count === 1 ? "" : "s"}`;
  byId("figures").textContent =
    `${word(phones.size + androids.size, "phone")} · ${word(browsers.size, "browser")} · ${word(shown, "card")} · ${counted} ${counted === 1 ? "push" : "pushes"}`;
  byId("empty").hidden = phones.size + androids.size + browsers.size > 0;
}

function showLink(state, words) {
  byId("link").className = `link ${state}`;
  byId("link").textContent = words;
}

async function compare() {
  const answer = await fetch("/verdict");
  const verdict = await answer.json();
  const title = byId("verdict-title");
  title.className = verdict.ok ? "good" : "bad";
  title.textContent = verdict.ok ? "Every phone shows the truth" : "Not every phone is right";
  const figures = {
    phones: verdict.phones, "Android phones": verdict.androids, browsers: verdict.browsers, sessions: verdict.sessions, "cards equal": verdict.equal,
    different: verdict.different, missing: verdict.missing, "doubled starts": verdict.doubled_starts,
    "older shown": verdict.older_shown, "banners overdue": verdict.overdue_banners, sounds: verdict.sounds, complaints: verdict.complaint_count,
  };
  byId("verdict-figures").replaceChildren(...Object.entries(figures).map(([name, value]) => {
    const pair = make("div");
    pair.append(make("dt", "", name), make("dd", "", String(value)));
    return pair;
  }));
  const problems = [
    ...verdict.differences.map((d) => `${d.phone}: ${d.what}`), ...verdict.unknown,
    ...verdict.complaints.map((c) => `${c.phone || "–"}: ${c.rule}: ${c.detail}`),
  ];
  byId("verdict-problems").replaceChildren(...problems.slice(0, 50).map((text) => make("li", "", text)));
  byId("verdict").showModal();
}

function listen() {
  const events = new EventSource("/events");
  events.addEventListener("open", () => showLink("on", "live"));
  events.addEventListener("error", () => showLink("off", "no connection"));
  events.addEventListener("phones", (event) => {
    JSON.parse(event.data).forEach(showPhone);
    tick();
    showFigures();
  });
  events.addEventListener("browsers", (event) => {
    JSON.parse(event.data).forEach(showBrowser);
    showFigures();
  });
  events.addEventListener("androids", (event) => {
    JSON.parse(event.data).forEach(showAndroid);
    tick();
    showFigures();
  });
  events.addEventListener("pushes", (event) => {
    // After a new connection everything is told once more.
    JSON.parse(event.data).filter((push) => push.number > counted).forEach(showPush);
    showFigures();
  });
}

byId("example").textContent = `curl ${location.origin}/phones -d '{"user_id": "dennis",
  "name": "Dennis", "token": "<what lockstep token --user dennis prints>"}'`;
byId("check").addEventListener("click", compare);
setInterval(tick, 1000);
listen();
