// Puts the page together: finds its parts, wires them, and lets go.
import { Booth } from "./booth.js";
import { listenForFiles } from "./intake.js";
import { KeyDesk } from "./key-desk.js";
import { PhotoCamera } from "./photo-camera.js";
import { Problem } from "./problem.js";
import { Progress } from "./progress.js";
import { Stage } from "./stage.js";
import { makeText } from "./text.js";
import { Tray } from "./tray.js";
import { Trouble } from "./trouble.js";
import { UsualTime } from "./usual-time.js";

const part = (id) => document.getElementById(id);
const form = part("form");
const sentences = JSON.parse(form.dataset.text);
const limits = JSON.parse(form.dataset.limits);
const text = makeText(sentences);

const stage = new Stage({ booth: part("booth"), view: part("view"), sign: part("sign") }, text);
const progress = new Progress({ panel: part("work"), step: part("work-step"), usual: part("work-usual"), bar: part("work-bar") }, text);
const again = () => booth.draw();
const desk = new KeyDesk({ panel: part("key-desk"), form: part("key-form"), field: part("key"), booth: part("booth") }, again);
const trouble = new Trouble(
  {
    panel: part("problem"), title: part("problem-title"), words: part("problem-text"), wait: part("problem-wait"),
    retry: part("retry"), desk,
  },
  text, again,
);
const tray = new Tray(
  { panel: part("tray"), download: part("download"), share: part("share"), copy: part("copy") },
  (key) => announce(note(key)),
);

function announce(words) {
  part("announce").textContent = words;
}

/** Shows the sentences of these keys under the picture, and gives them back. @param {string[]} keys */
function note(...keys) {
  const words = keys.filter((key) => key in sentences).map((key) => text(key)).join(" ");
  part("note").hidden = words === "";
  part("note-text").textContent = words;
  return words;
}

/** The trouble is over; whoever stood at its buttons waits in the booth. */
function calm() {
  if (part("problem").contains(document.activeElement)) stage.booth.focus({ preventScroll: true });
  trouble.hide();
}

/** @param {Problem} problem */
function tellTrouble(problem) {
  const refused = problem.code === "unauthorized" && desk.key !== "";
  const own = refused ? "key.wrong" : `error.code.${problem.code}`;
  if (own in sentences) problem.message = text(own, { limit: limits.max_upload_mib });
  showEntry();
  trouble.show(problem, booth.hasPhoto);
}

const booth = new Booth({
  form, stage, progress, tray, usual: new UsualTime(), limits, text, key: () => desk.key,
  say: { note, announce, trouble: tellTrouble, calm },
});

/** The ticket with the buttons is for an empty booth only. */
function showEntry() {
  part("entry").hidden = stage.state !== "empty";
}

/** @param {File[]} files */
function takeFiles(files) {
  if (files.length === 0) return complain("error.not-a-file");
  trouble.reset();
  part("entry").hidden = true;
  if (document.activeElement === document.body || form.contains(document.activeElement)) stage.booth.focus({ preventScroll: true });
  booth.take(files[0], files.length > 1 ? ["notice.first-only"] : []);
  bringIntoView(stage.booth);
}

/** Scrolls only where the booth's upper half is out of sight. @param {HTMLElement} booth */
function bringIntoView(booth) {
  const { top } = booth.getBoundingClientRect();
  if (top < 0 || top > innerHeight / 2) booth.scrollIntoView({ block: "start" });
}

function complain(key) {
  tellTrouble(new Problem(key, text(key), { final: true }));
}

function startOver() {
  booth.startOver();
  showEntry();
  part("file").focus({ preventScroll: true });
}

function takeChosen() {
  const files = [...part("file").files];
  part("file").value = ""; // so that choosing the same photo again counts as a choice
  if (files.length) takeFiles(files);
}

/** @param {"user" | null} capture which camera a phone's own camera app should open, null: the file picker */
function openPicker(capture) {
  const input = part("file");
  if (capture) input.setAttribute("capture", capture);
  input.click();
  input.removeAttribute("capture");
}

function openCamera() {
  if (!PhotoCamera.usable) return openPicker("user");
  trouble.hide();
  part("entry").hidden = true;
  stage.state = "camera";
  stage.showCamera({
    onShot: (file) => { stage.flash(); takeFiles([file]); },
    onClose: startOver,
    onFail: () => { startOver(); complain("camera.failed"); },
  });
}

async function takeSample(address) {
  try {
    const answer = await fetch(address);
    if (!answer.ok) throw new Error(answer.statusText);
    const blob = await answer.blob();
    takeFiles([new File([blob], new URL(answer.url).pathname.split("/").pop(), { type: blob.type })]);
  } catch {
    complain("error.sample");
  }
}

part("other").addEventListener("click", () => openPicker(null));
part("camera").addEventListener("click", openCamera);
part("again").addEventListener("click", startOver);
part("cancel").addEventListener("click", () => {
  booth.cancel();
  showEntry();
  (stage.state === "empty" ? part("file") : part("download")).focus({ preventScroll: true });
});
part("file").addEventListener("change", takeChosen);
takeChosen(); // what was chosen before the script was there
for (const button of document.querySelectorAll("[data-sample]")) {
  button.addEventListener("click", () => takeSample(button.dataset.sample));
}
listenForFiles({
  onFiles: takeFiles,
  onHover: (hovering) => {
    part("drop-here").hidden = !hovering;
    part("booth").classList.toggle("drops", hovering);
  },
});
const strength = part("strength");
strength.addEventListener("input", () => { part("strength-value").textContent = `${strength.value} %`; });
form.addEventListener("change", ({ target }) => {
  if (target === part("file")) return;
  trouble.reset();
  booth.draw();
});
form.addEventListener("submit", (event) => event.preventDefault());
