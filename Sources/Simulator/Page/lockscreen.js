"use strict";

// How a Lock Screen and what is on it are drawn. No state of its own.
const cookType = "CookSuggestActivityAttributes";
const steps = ["answering", "generating", "proposed", "finalizing", "decided"];
const stepWords = {
  answering: "Antworten", generating: "Die Küche denkt nach", proposed: "Vorschläge",
  finalizing: "Anrichten", decided: "Entschieden", cancelled: "Beendet",
};
const tints = {
  coral: "#ff7f6a", red: "#ff453a", orange: "#ff9f0a", amber: "#ffb340", yellow: "#ffd60a",
  lime: "#9bd13c", green: "#30d158", mint: "#63e6be", teal: "#40c8e0", cyan: "#64d2ff",
  sky: "#5ac8fa", blue: "#4a8dff", indigo: "#7d7aff", violet: "#a283ff", purple: "#bf5af2",
  pink: "#ff6fa5", rose: "#ff5c8a", brown: "#b58863", gray: "#8e8e93", grey: "#8e8e93",
};
// Three colours of a wallpaper: top left, right, ground. Phones take turns.
const wallpapers = [
  ["#f7a072", "#c2416b", "#2d1e4a"], ["#5fb3d9", "#3f5fc4", "#141d4d"],
  ["#7fc7a4", "#1f8a8c", "#0d3442"], ["#b79bea", "#7a4cc2", "#251650"],
  ["#f3c969", "#d9683c", "#4a1a2c"], ["#f29ab8", "#8f5bd0", "#30154a"],
  ["#9fb7cf", "#4d6f96", "#16233a"], ["#c6cf7a", "#5b8f54", "#16331f"],
];

function make(tag, className, text) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

function drawing(path, box = "0 0 24 24") {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", box);
  svg.setAttribute("aria-hidden", "true");
  const shape = document.createElementNS("http://www.w3.org/2000/svg", "path");
  shape.setAttribute("d", path);
  svg.append(shape);
  return svg;
}

const shapes = {
  tick: "M5 12.5l4.5 4.5L19 7.5",
  cross: "M7 7l10 10M17 7L7 17",
  torch: "M8 2h8v4l-2 3v12a1 1 0 0 1-1 1h-2a1 1 0 0 1-1-1V9L8 6z",
  camera: "M8 6l1.5-2h5L16 6h4a2 2 0 0 1 2 2v10a2 2 0 0 1-2 2H4a2 2 0 0 1-2-2V8a2 2 0 0 1 2-2zm4 2.500a5 5 0 1 0 .01 0z",
  waves: "M12 19l3-3.600a4.500 4.500 0 0 0-6 0zM6.500 12.700l1.900 2.200a5.600 5.600 0 0 1 7.200 0l1.900-2.200a8.500 8.500 0 0 0-11 0zM2.500 8l2 2.300a11.500 11.500 0 0 1 15 0l2-2.300a14.500 14.500 0 0 0-19 0z",
  plane: "M21 15v-2l-7.500-4.500V3.500a1.500 1.500 0 0 0-3 0v5L3 13v2l7.500-2.300V18L8.500 19.500V21l3.500-1 3.500 1v-1.500L13.500 18v-5.300z",
  battery: "M2 7a3 3 0 0 1 3-3h22a3 3 0 0 1 3 3v6a3 3 0 0 1-3 3H5a3 3 0 0 1-3-3zM31 8v4c1.200-.3 2-1 2-2s-.8-1.700-2-2z",
};

function hueOf(text) {
  let hash = 7;
  for (const character of text) hash = (hash * 31 + character.codePointAt(0)) % 3600;
  return Math.round(hash * 1.61803) % 360;
}

function tintOf(name, fallback) {
  if (name && /^#[0-9a-f]{6}$/i.test(name)) return name;
  return tints[String(name || "").toLowerCase()] || `hsl(${hueOf(name || fallback)} 62% 56%)`;
}

const german = new Intl.DateTimeFormat("de-DE", { weekday: "long", day: "numeric", month: "long" });
const shortDay = new Intl.DateTimeFormat("de-DE", { weekday: "short", day: "numeric", month: "numeric", timeZone: "UTC" });
const hours = new Intl.DateTimeFormat("de-DE", { hour: "2-digit", minute: "2-digit" });
const exact = new Intl.DateTimeFormat("de-DE", { hour: "2-digit", minute: "2-digit", second: "2-digit" });

function dayOf(date) {
  const moment = new Date(`${date}T12:00:00Z`);
  return Number.isNaN(moment.getTime()) ? date : shortDay.format(moment);
}

// The contract's form has a space and means UTC.
function updatedOf(state) {
  const moment = new Date(`${(state.updatedAt || "").replace(" ", "T")}Z`);
  return Number.isNaN(moment.getTime()) ? "" : exact.format(moment);
}

function avatar(card) {
  const { partnerName, partnerTint, partnerEmoji } = card.attributes;
  const round = make("span", "avatar");
  if (partnerEmoji) round.append(make("span", "", partnerEmoji));
  else round.append(make("span", "letter", (partnerName || "?").trim().slice(0, 1).toUpperCase()));
  round.setAttribute("role", "img");
  const ready = card.content_state.partnerReady;
  round.setAttribute("aria-label", `${partnerName || "Dein Partner"}${ready ? ", bereit" : ""}`);
  if (ready && card.standing !== "ended") {
    const mark = make("span", "ready");
    mark.append(drawing(shapes.tick));
    round.append(mark);
  }
  return round;
}

function progress(state) {
  const list = make("ol", "steps");
  const at = steps.indexOf(state.state);
  list.setAttribute("role", "img");
  list.setAttribute("aria-label", at < 0
    ? stepWords.cancelled : `Schritt ${at + 1} von ${steps.length}: ${stepWords[state.state]}`);
  steps.forEach((_, index) => {
    const isPast = index < at || state.state === "decided";
    list.append(make("li", isPast ? "past" : index === at ? "now" : ""));
  });
  return list;
}

function subline(card) {
  const state = card.content_state;
  const partner = card.attributes.partnerName;
  if (state.state === "decided") return partner ? `mit ${partner}` : "Guten Appetit";
  if (state.partnerPickTitle && !state.statusLabel.includes(state.partnerPickTitle))
    return `${partner || "Dein Partner"}: ${state.partnerPickTitle}`;
  return partner ? `mit ${partner}` : "Essen planen";
}

function side(card) {
  const state = card.content_state;
  if (card.standing === "ended") {
    const isGood = state.state === "decided";
    const done = make("span", isGood ? "done" : "done off");
    done.append(drawing(isGood ? shapes.tick : shapes.cross));
    return done;
  }
  if (state.proposalCount > 0 && state.state === "proposed") {
    const count = make("span", "count");
    count.append(make("b", "", String(state.proposalCount)));
    count.append(state.proposalCount === 1 ? "Idee" : "Ideen");
    return count;
  }
  return null;
}

// What a card of any app says first and second, and whose it is.
function wordsOf(card) {
  const state = card.content_state;
  if (card.attributes_type === cookType)
    return { icon: "🍳", app: "Was koch ich draus?", title: state.statusLabel, text: subline(card) };
  const app = card.attributes.kind || card.attributes_type.replace(/ActivityAttributes$/, "");
  const texts = ["title", "headline", "label"].map((name) => state[name])
    .concat(Object.values(state))
    // A moment is for the app to word.
    .filter((value) => typeof value === "string" && !/^\d{4}-\d\d-\d\d[T ]/.test(value));
  const title = texts[0] || app;
  return { icon: "📱", app, title, text: state.body || texts.find((text) => text !== title) || "" };
}

// A fraction from 0 to 1; null: something goes on, nobody knows how far.
function drawBar(fraction, state) {
  const bar = make("progress");
  if (fraction !== null) bar.value = fraction;
  bar.state = state;
  bar.setAttribute("aria-label", state.shortStatus || "Fortschritt");
  return bar;
}

// A range of dates goes on by itself, without a push.
function moveBars() {
  for (const bar of document.querySelectorAll("progress")) {
    const fraction = fractionOf(bar.state);
    if (fraction !== null && fraction !== bar.value) bar.value = fraction;
  }
}

// A card of any other app: its first texts, its progress, and whatever else it holds.
function fillOtherCard(element, card) {
  const state = card.content_state;
  const shown = JSON.stringify(state);
  const isNews = element.dataset.shown !== undefined && element.dataset.shown !== shown;
  element.dataset.shown = shown;
  element.className = `card ${card.standing}`;
  element.style.setProperty("--tint", tintOf(null, card.attributes_type));
  const top = make("div", "top");
  const said = wordsOf(card);
  top.append(make("span", "icon", said.icon), make("span", "app", said.app));
  if (card.standing === "stale") top.append(make("span", "chip stale", "nicht aktuell"));
  if (card.standing === "ended") top.append(make("span", "chip", "beendet"));
  if (top.children.length < 3 && state.shortStatus) top.append(make("span", "chip", state.shortStatus));
  const words = make("div", "words");
  const label = make("div", "label", said.title);
  label.setAttribute("aria-live", "polite");
  words.append(label, make("div", "sub", said.text));
  const row = make("div", "row");
  row.append(words);
  const parts = [top, row];
  const fraction = fractionOf(state);
  if (fraction !== null || state.indeterminate) parts.push(drawBar(fraction, state));
  const tail = make("div", "tail");
  tail.append(make("span", "rest", shown));
  tail.title = shown;
  element.replaceChildren(...parts, tail);
  if (isNews) {
    void element.offsetWidth;
    element.classList.add("news");
  }
}

// 0 to 1; a range of dates goes on by itself, seconds since 2001.
function fractionOf(state) {
  if (typeof state.progress === "number") return state.progress;
  if (typeof state.progressStart === "number" && state.progressEnd > state.progressStart) {
    const now = Date.now() / 1000 - 978307200;
    const done = (now - state.progressStart) / (state.progressEnd - state.progressStart);
    return Math.min(1, Math.max(0, done));
  }
  return typeof state.done === "number" && state.total > 0 ? state.done / state.total : null;
}

function fillCard(element, card) {
  if (card.attributes_type !== cookType) return fillOtherCard(element, card);
  const state = card.content_state;
  const isNews = element.dataset.rev !== undefined && element.dataset.rev !== String(state.rev);
  element.dataset.rev = state.rev;
  const isWorking = ["generating", "finalizing"].includes(state.state);
  element.className = `card ${card.standing}${isWorking ? " working" : ""}`;
  element.style.setProperty("--tint", tintOf(card.attributes.partnerTint, card.attributes.partnerName || "x"));
  const top = make("div", "top");
  top.append(make("span", "icon", "🍳"), make("span", "app", "Was koch ich draus?"));
  if (card.standing === "stale") top.append(make("span", "chip stale", "nicht aktuell"));
  if (card.standing === "ended") top.append(make("span", "chip", "beendet"));
  if (top.children.length < 3) top.append(make("span", "day", dayOf(card.attributes.date)));
  const words = make("div", "words");
  const label = make("div", "label", state.statusLabel);
  label.setAttribute("aria-live", "polite");
  words.append(label, make("div", "sub", subline(card)));
  const row = make("div", "row");
  row.append(avatar(card), words);
  const extra = side(card);
  if (extra) row.append(extra);
  const tail = make("div", "tail");
  tail.append(make("span", "", updatedOf(state)), make("span", "", `rev ${state.rev}`));
  element.replaceChildren(top, row, progress(state), tail);
  if (isNews) {
    // Reading the width restarts the animation.
    void element.offsetWidth;
    element.classList.add("news");
  }
}

function fillBanner(element, banner) {
  const icon = make("span", "icon", "✨");
  icon.setAttribute("aria-hidden", "true");
  const words = make("div");
  words.append(make("b", "", banner.title), make("p", "", banner.body));
  element.className = "banner";
  element.title = banner.link || "";
  const time = make("time", "", hours.format(new Date(banner.shown_at)));
  if (banner.sound) {
    const note = make("span", "note", "♪");
    note.setAttribute("role", "img");
    note.setAttribute("aria-label", "mit Ton");
    time.prepend(note, " ");
  }
  element.replaceChildren(icon, words, time);
}

/// Keeps the elements of those that stay, so that only newcomers move in.
function fillStack(stack, phone) {
  const old = new Map([...stack.children].map((child) => [child.dataset.key, child]));
  const wanted = [];
  const add = (key, tag, fill) => {
    const element = old.get(key) || make(tag);
    element.dataset.key = key;
    fill(element);
    wanted.push(element);
  };
  phone.banners.slice(0, 3).reverse().forEach((banner) =>
    add(`banner ${banner.collapse_id || banner.shown_at}`, "div", (e) => fillBanner(e, banner)));
  phone.cards.slice(0, 2).reverse().forEach((card) =>
    add(card.activity_id, "section", (e) => {
      e.setAttribute("aria-label", `Live Activity, ${card.standing}`);
      fillCard(e, card);
    }));
  if (!wanted.length)
    add("none", "p", (e) => {
      e.className = "none";
      e.textContent = phone.installed ? "Keine Mitteilungen" : "App gelöscht";
    });
  if (wanted.some((element, index) => stack.children[index] !== element)
    || stack.children.length !== wanted.length) stack.replaceChildren(...wanted);
}
