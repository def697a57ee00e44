"use strict";
// Everything that comes from outside becomes text, never markup.
const at = (id) => document.getElementById(id);
const svg = "http://www.w3.org/2000/svg";
const make = (name, className, ...inside) => {
  const node = document.createElement(name);
  if (className) node.className = className;
  node.append(...inside.filter((one) => one !== null && one !== undefined));
  return node;
};
const number = (value) => (value === null || value === undefined ? "–" : value.toLocaleString("en"));
const span = (seconds) =>
  seconds < 60 ? `${seconds} s` : seconds < 3600 ? `${Math.floor(seconds / 60)} min ${seconds % 60} s`
    : `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;

async function ask(path, options = {}) {
  const answer = await fetch(path, { cache: "no-store", ...options });
  const body = await answer.json();
  if (!answer.ok) throw new Error(body.detail || `answered ${answer.status}`);
  return body;
}

// Queues

/** Waiting messages over time, with what is expected at most where that is in sight. */
function plot(depths, most, name) {
  const [width, height, looks] = [300, 64, 150];
  const known = depths.filter((depth) => depth !== null);
  const top = Math.max(1, ...known);
  const shows = most !== undefined && most > 0 && most <= top * 2;
  const scale = shows ? Math.max(top, most) : top;
  const x = (place) => ((place + looks - depths.length) / (looks - 1)) * width;
  const y = (depth) => height - 2 - (depth / scale) * (height - 6);
  const picture = document.createElementNS(svg, "svg");
  picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
  picture.setAttribute("preserveAspectRatio", "none");
  picture.setAttribute("class", "plot");
  picture.setAttribute("role", "img");
  picture.setAttribute("aria-label",
    `${name}: between ${number(Math.min(...known, top))} and ${number(Math.max(0, ...known))} waiting in the last minutes`);
  const draw = (kind, className, values) => {
    const node = document.createElementNS(svg, kind);
    node.setAttribute("class", className);
    for (const [key, value] of Object.entries(values)) node.setAttribute(key, value);
    picture.append(node);
  };
  draw("line", "base", { x1: 0, x2: width, y1: height - 1, y2: height - 1 });
  // A look without an answer is a gap.
  let run = [];
  const close = () => {
    if (run.length > 0) {
      const points = run.map(([place, depth]) => `${x(place).toFixed(1)} ${y(depth).toFixed(1)}`);
      const [first, last] = [x(run[0][0]).toFixed(1), x(run[run.length - 1][0]).toFixed(1)];
      draw("path", "fill", { d: `M${first} ${height - 2}L${points.join("L")}L${last} ${height - 2}Z` });
      draw("path", "line", { d: `M${points.join("L")}${run.length === 1 ? "h1" : ""}` });
    }
    run = [];
  };
  depths.forEach((depth, place) => (depth === null ? close() : run.push([place, depth])));
  close();
  if (shows) draw("line", "most", { x1: 0, x2: width, y1: y(most), y2: y(most) });
  return picture;
}

function age(queue) {
  if (queue.depth === 0 && !queue.unacked) return "–";
  if (queue.oldest_at_least_seconds > 0) return `≥ ${span(queue.oldest_at_least_seconds)}`;
  return queue.oldest_at_most_seconds === null ? "unknown" : `< ${span(queue.oldest_at_most_seconds)}`;
}

function card(queue, state) {
  const facts = make("dl");
  const fact = (name, value, isBad = false, className = "") => {
    facts.append(make("div", className, make("dt", "", name), make("dd", isBad ? "bad" : "", value)));
  };
  fact("In/s", number(queue.in_per_second));
  fact("Out/s", number(queue.out_per_second));
  fact("Oldest", age(queue));
  fact("Readers", number(queue.consumers), queue.consumers === 0 && queue.trouble !== null);
  fact("In hand", number(queue.unacked));
  fact("Retrying", queue.rungs ? `${number(queue.retrying)} (${queue.rungs})` : number(queue.retrying), false, "wide");
  fact("Dead", number(queue.dead), queue.dead > 0);
  const most = state.expected[queue.queue];
  const head = make("h3", "", queue.queue,
    make("strong", "", number(queue.depth), make("small", "", " waiting")));
  return make("article", queue.trouble ? "card broken" : "card", head,
    plot(state.depths[queue.queue] || [], most, queue.queue), facts);
}

function verdict(state) {
  if (state.queues.length === 0) return [];
  if (state.troubles.length === 0) {
    return [make("p", "well", "All is as queues.yaml expects, as far as it is known.")];
  }
  return [make("ul", "", ...state.troubles.map((text) => {
    const colon = text.indexOf(":");
    return make("li", "", make("b", "", text.slice(0, colon)), text.slice(colon));
  }))];
}

let said = "";
function show(state) {
  at("cards").replaceChildren(...state.queues.map((queue) => card(queue, state)));
  // Only when it changes: a reader of the screen would hear it every two seconds.
  if (said !== JSON.stringify(state.troubles)) {
    said = JSON.stringify(state.troubles);
    at("verdict").replaceChildren(...verdict(state));
  }
  at("unknown").textContent = state.unknown.join(" · ");
  const lanes = state.lanes.map((lane) => make("div", "lane",
    make("b", "", `${lane.topic} · ${lane.environment}`),
    make("p", "", lane.because), make("p", "note", `open since ${lane.opened_at}`)));
  if (lanes.length === 0) {
    lanes.push(make("p", "empty", state.lanes_unknown.length > 0 ? "Not known in full." : "None: pushes go out everywhere."));
  }
  if (state.lanes_unknown.length > 0) lanes.push(make("p", "note", state.lanes_unknown.join(" · ")));
  at("lane-list").replaceChildren(...lanes);
}

function freshness(text, isOld) {
  const node = at("freshness");
  if (node.textContent !== text) node.textContent = text;
  node.classList.toggle("old", isOld);
}

async function refresh() {
  try {
    const state = await ask("/ops/state");
    if (state.age_ms === null) {
      freshness("no figures yet", true);
      at("unknown").textContent = state.unknown.join(" · ");
    } else {
      show(state);
      const isOld = state.age_ms > 10000;
      freshness(isOld ? `figures are ${span(Math.floor(state.age_ms / 1000))} old` : "live", isOld);
    }
  } catch (error) {
    freshness(`no answer: ${error.message}`, true);
  }
  setTimeout(refresh, 2000);
}

// Dead letters

function group(one) {
  const shown = make("div", "shown");
  shown.hidden = true;
  shown.append(...one.shown.map((letter) => make("pre", "", letter.text)));
  if (one.count > one.shown.length) {
    shown.append(make("p", "note", `${number(one.count - one.shown.length)} more like these; lockstep dead show --reason shows all`));
  }
  const look = make("button", "", "Look");
  look.type = "button";
  look.setAttribute("aria-expanded", "false");
  look.addEventListener("click", () => {
    shown.hidden = !shown.hidden;
    look.setAttribute("aria-expanded", String(!shown.hidden));
    look.textContent = shown.hidden ? "Look" : "Hide";
  });
  const send = make("button", "", "Send back …");
  send.type = "button";
  send.addEventListener("click", () => confirmed(one));
  for (const button of [look, send]) {
    button.setAttribute("aria-label", `${button.textContent} ${one.count} of ${one.stage}: ${one.reason}`);
  }
  const when = one.last_failed_at ? `${one.stage} · last ${one.last_failed_at}` : one.stage;
  return make("article", "group",
    make("div", "row", make("span", "count", number(one.count)),
      make("div", "why", one.reason, make("small", "", when)), look, send), shown);
}

async function lookAtDead(before = "") {
  const button = at("look");
  button.disabled = true;
  try {
    const dead = await ask("/ops/dead");
    const groups = dead.groups.map(group);
    if (groups.length === 0) groups.push(make("p", "empty", "None."));
    at("dead-list").replaceChildren(...groups);
    const unseen = dead.unseen > 0 ? `${number(dead.unseen)} more were not looked at.` : "";
    at("dead-said").textContent = [before, unseen].filter(Boolean).join(" ");
  } catch (error) {
    at("dead-said").textContent = [before, `Dead letters cannot be read: ${error.message}`].filter(Boolean).join(" ");
  }
  button.disabled = false;
}

let chosen = null;
function confirmed(one) {
  chosen = one;
  at("confirm-text").textContent =
    `${number(one.count)} of ${one.stage} that failed with “${one.reason}” go back to where they failed.`;
  at("confirm").showModal();
}
at("no").addEventListener("click", () => at("confirm").close());
at("yes").addEventListener("click", async () => {
  at("confirm").close();
  const one = chosen;
  at("dead-said").textContent = "Sending back …";
  let before;
  try {
    const report = await ask("/ops/dead/replay", {
      method: "POST",
      headers: { "content-type": "application/json", "x-lockstep-ops": "1" },
      body: JSON.stringify({ stage: one.stage, reason: one.reason }),
    });
    const stayed = report.refused + report.without_origin;
    before = `${number(report.replayed)} went back.`
      + (stayed > 0 ? ` ${number(stayed)} stay: ${report.refusal || "queues.yaml does not know where they came from"}.` : "");
  } catch (error) {
    before = `Not sent back: ${error.message}.`;
  }
  await lookAtDead(before);
  at("look").focus();
});
at("look").addEventListener("click", () => lookAtDead());

// Explain

at("ask").addEventListener("submit", async (event) => {
  event.preventDefault();
  const query = new URLSearchParams({ session: at("session").value.trim(), user: at("user").value.trim() });
  const story = at("story");
  try {
    const told = await ask(`/ops/explain?${query}`);
    const answers = told.entries.filter((entry) => entry.source === "answer");
    const list = (entries) => make("ol", "story", ...entries.map((entry) => {
      const kind = entry.source !== "answer" ? "" : entry.shows_newest ? "good" : "bad";
      const head = [entry.at, `+${(entry.after_ms / 1000).toFixed(1)} s`, entry.source, entry.user_id].filter(Boolean);
      return make("li", kind, make("small", "", kind ? entry.user_id : head.join(" · ")),
        kind ? make("b", "", entry.text) : entry.text);
    }));
    story.replaceChildren(make("p", "", make("b", "", told.head)), list(answers),
      list(told.entries.filter((entry) => entry.source !== "answer")));
  } catch (error) {
    story.replaceChildren(make("p", "empty", error.message));
  }
});

refresh();
lookAtDead();
