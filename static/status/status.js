// The owner's page looks again while somebody looks at it: never while it is hidden, paused, read by hand, or still
// waiting for the last answer. It reads well without this, too.
import { recall, remember } from "../js/storage.js";

const KEY = "service-key"; // The booth's own: who has opened one has opened both, for as long as the tab lives.
const SHELF = "sessionStorage";
const LONGEST_PAUSE = 60_000;

const main = document.querySelector(".owner");
const watch = document.getElementById("watch");
const words = document.getElementById("watch-words");
const pause = document.getElementById("pause");
const rhythm = Number(main.dataset.refresh) * 1000;

let wait = rhythm;
let timer = 0;
let looking = false;

function say(state) {
  watch.dataset.state = state;
  if (words.textContent !== words.dataset[state]) words.textContent = words.dataset[state];
}

/** Whether somebody is at the figures by keyboard or has text marked there: they must not change under their hands. */
function inUse(figures) {
  const marked = getSelection();
  return figures.contains(document.activeElement) || (!marked.isCollapsed && figures.contains(marked.anchorNode));
}

/** The page as it is now. Throws a status where the service does not want to show it. */
async function ask() {
  const key = recall(KEY, SHELF);
  const response = await fetch(location.pathname, {
    headers: { Accept: "text/html", ...(key && { Authorization: `Bearer ${key}` }) },
    cache: "no-store",
    signal: AbortSignal.timeout(20_000),
  });
  if (!response.ok) throw response.status;
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  return page.getElementById("figures");
}

const paused = () => pause.getAttribute("aria-pressed") === "true";
const wanted = () => document.visibilityState === "visible" && !paused();

async function look() {
  looking = true;
  const fresh = await ask().catch(() => null);
  looking = false;
  // Paused while the answer was under way: it comes too late.
  if (paused()) return;
  const figures = document.getElementById("figures");
  if (fresh && !inUse(figures)) figures.replaceWith(fresh);
  wait = fresh ? rhythm : Math.min(wait * 2, LONGEST_PAUSE);
  say(fresh ? "going" : "lost");
  plan();
}

function plan() {
  clearTimeout(timer);
  if (wanted() && !looking) timer = setTimeout(look, wait);
}

/** Somebody is back: look at once. */
function resume() {
  clearTimeout(timer);
  if (wanted() && !looking) look();
}

function start() {
  watch.hidden = false;
  document.addEventListener("visibilitychange", resume);
  pause.addEventListener("click", () => {
    pause.setAttribute("aria-pressed", String(!paused()));
    say(paused() ? "paused" : "going");
    resume();
  });
  plan();
}

// ---- the key, where one is asked for ----

const form = document.getElementById("owner-key");
const wrong = document.getElementById("key-wrong");

async function open(door) {
  const figures = await ask();
  door.replaceWith(figures);
  start();
  pause.focus({ preventScroll: true });
}

function complain(error) {
  const refused = error === 401 || error === 403;
  if (refused) remember(KEY, null, SHELF);
  form.elements.key.setAttribute("aria-invalid", String(refused));
  wrong.textContent = refused ? wrong.dataset.wrong : wrong.dataset.unreachable;
  wrong.hidden = false;
  form.elements.key.focus();
}

if (document.getElementById("figures")) start();
if (form) {
  const door = form.closest(".owner__door");
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    remember(KEY, form.elements.key.value, SHELF);
    open(door).catch(complain);
  });
  // Given before, in this tab.
  if (recall(KEY, SHELF)) open(door).catch(complain);
}
