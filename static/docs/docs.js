// The API pages' own moves: copy an example, call a route and show what came back. They read without it, too.

const SHOWN_HEADERS = [
  "Content-Type", "Content-Length", "Content-Disposition", "X-Style", "X-Faces", "X-Size", "X-Notice", "X-Cache",
  "Server-Timing", "Retry-After", "X-Request-Id",
];

function textBlock(text) {
  const block = document.createElement("pre");
  block.tabIndex = 0;
  block.append(Object.assign(document.createElement("code"), { textContent: text }));
  return block;
}

function headLines(response) {
  const headers = SHOWN_HEADERS.filter((name) => response.headers.has(name));
  return [`${response.status} ${response.statusText}`, ...headers.map((name) => `${name}: ${response.headers.get(name)}`)].join("\n");
}

async function picture(response) {
  const image = new Image();
  image.alt = "The anime picture that came back";
  image.src = URL.createObjectURL(await response.blob());
  await image.decode();
  URL.revokeObjectURL(image.src);
  return image;
}

async function content(response) {
  const type = response.headers.get("Content-Type") ?? "";
  if (type.startsWith("image/")) return picture(response);
  return textBlock(type.includes("json") ? JSON.stringify(await response.json(), null, 2) : await response.text());
}

async function show(output, request) {
  output.hidden = false;
  output.replaceChildren("…");
  try {
    const response = await fetch(request);
    output.replaceChildren(textBlock(headLines(response)), await content(response));
  } catch (error) {
    output.replaceChildren(textBlock(String(error)));
  }
}

async function copyExample(button) {
  const words = button.querySelector("[data-said]");
  const before = words.textContent;
  await navigator.clipboard.writeText(button.parentElement.querySelector("code").textContent);
  words.textContent = words.dataset.said;
  setTimeout(() => { words.textContent = before; }, 2000);
}

for (const button of document.querySelectorAll("[data-copy]")) {
  // Browsers lend the clipboard to https and localhost only.
  if (navigator.clipboard) button.addEventListener("click", () => copyExample(button));
  else button.hidden = true;
}

for (const button of document.querySelectorAll("[data-try]")) {
  const output = button.parentElement.querySelector("output");
  button.addEventListener("click", () => show(output, new Request(button.dataset.try)));
}

for (const form of document.querySelectorAll("[data-try-form]")) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    show(form.parentElement.querySelector("output"), new Request(form.dataset.tryForm, { method: "POST", body: new FormData(form) }));
  });
}
