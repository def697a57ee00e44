// How an Android phone, and the notifications that its app draws, are drawn. No state of its own.
const standingWords = { live: "angezeigt", ended: "beendet", dismissed: "weggewischt" };
const androidCardsShown = 3;

function newAndroid() {
  const element = make("article", "android");
  const glass = make("div", "glass");
  glass.lang = "de";
  const time = make("div", "time");
  time.append(make("div", "clock"), make("div", "date"));
  glass.append(make("div", "strip"), make("i", "lens"), time, make("div", "shade"), make("div", "home"));
  const shell = make("div", "shell");
  shell.append(glass);
  element.append(shell, make("div", "tools"));
  return element;
}

// Of a card's way from its start to its end; null where nothing tells.
function drawWay(card) {
  const state = card.content_state;
  if (card.attributes_type === cookType) return progress(state);
  const fraction = fractionOf(state);
  if (fraction === null && !state.indeterminate) return null;
  return drawBar(fraction, state);
}

function fillNotification(element, card, phone) {
  const words = wordsOf(card);
  const isNews = element.dataset.rev !== undefined && element.dataset.rev !== String(card.rev);
  element.dataset.rev = card.rev;
  element.className = `notification ${card.standing}`;
  element.style.setProperty("--tint", tintOf(
    card.attributes.partnerTint, card.attributes.partnerName || card.attributes_type));
  const standing = standingWords[card.standing];
  element.setAttribute("aria-label", `Notification, ${card.standing}: ${words.title}`);
  const top = make("div", "top");
  const icon = make("span", "icon", words.icon);
  icon.setAttribute("aria-hidden", "true");
  const time = make("time", "", hours.format(new Date(card.changed_at)));
  top.append(icon, make("span", "app", words.app), make("span", "", "·"), time);
  const title = make("b", "", words.title);
  title.setAttribute("aria-live", "polite");
  const tail = make("div", "tail");
  tail.append(
    make("span", "standing", phone.online ? standing : `${standing} · offline`),
    make("span", "", `rev ${card.rev}`));
  const parts = [top, title];
  if (words.text) parts.push(make("p", "", words.text));
  const way = card.standing === "dismissed" ? null : drawWay(card);
  if (way) parts.push(way);
  element.replaceChildren(...parts, tail);
  if (isNews) {
    // Reading the width restarts the animation.
    void element.offsetWidth;
    element.classList.add("news");
  }
}

// Keeps the elements of those that stay, so that only newcomers move in.
function fillShade(shade, phone) {
  const old = new Map([...shade.children].map((child) => [child.dataset.key, child]));
  const wanted = phone.cards.slice(0, androidCardsShown).map((card) => {
    const element = old.get(card.context_key) || make("section");
    element.dataset.key = card.context_key;
    fillNotification(element, { ...card, attributes_type: card.kind }, phone);
    return element;
  });
  if (!wanted.length) {
    const none = make("p", "none", phone.installed ? "Keine Benachrichtigungen" : "App gelöscht");
    none.dataset.key = "none";
    wanted.push(none);
  }
  if (wanted.some((element, index) => shade.children[index] !== element)
    || shade.children.length !== wanted.length) shade.replaceChildren(...wanted);
}

function fillAndroid(element, phone) {
  element.className = `android${phone.online ? "" : " offline"}${phone.installed ? "" : " gone"}`;
  element.setAttribute("aria-label", `Android phone of ${phone.name}`);
  const bar = element.querySelector(".strip");
  const right = make("span", "signs");
  // What Android shows of a Live Update beside the clock.
  const chip = phone.cards.find((card) => card.standing === "live")?.content_state.shortStatus;
  if (chip) right.append(make("span", "chip", chip));
  right.append(
    drawing(phone.online ? shapes.waves : shapes.plane, phone.online ? "0 2 24 18" : "0 2 24 20"),
    drawing(shapes.battery, "0 2 34 16"));
  bar.replaceChildren(make("span", "", phone.name), right);
  fillShade(element.querySelector(".shade"), phone);
  fillAndroidTools(element.querySelector(".tools"), phone);
}

function fillAndroidTools(tools, phone) {
  const isShowing = phone.cards.some((card) => card.standing === "live");
  const key = `${phone.online} ${phone.installed} ${phone.held} ${isShowing}`;
  if (tools.dataset.key === key) return;
  tools.dataset.key = key;
  const title = make("h2", "", phone.name);
  const held = phone.held === 1 ? "one message waits" : `${phone.held} messages wait`;
  const more = !phone.installed ? "app uninstalled"
    : phone.online ? `Android · ${phone.id}` : phone.held ? `offline, ${held} at FCM` : "offline";
  title.append(make("small", "", more));
  tools.replaceChildren(title);
  if (!phone.installed) return;
  const turn = phone.online ? "offline" : "online";
  const owner = `${phone.name}'s Android phone`;
  const act = (what) => tell(`/androids/${encodeURIComponent(phone.id)}/${what}`);
  tools.append(button(`Go ${turn}`, `Let ${owner} go ${turn}`, () => act(turn)));
  if (isShowing) {
    tools.append(
      button("Swipe away", `Dismiss the notifications of ${owner}`, () => act("dismiss")),
      button("End process", `End the app's process on ${owner}`, () => act("forget")));
  }
  tools.append(button("Uninstall", `Uninstall the app of ${owner}`, () => act("uninstall")));
}
