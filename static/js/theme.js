import { remember } from "./storage.js";

const dark = matchMedia("(prefers-color-scheme: dark)");

/** Whether the page is dark now, by hand or by system. */
function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : dark.matches;
}

function colourTheBrowser() {
  const [light, night] = document.querySelectorAll('meta[name="theme-color"]');
  const chosen = document.documentElement.dataset.theme;
  light.media = chosen ? (chosen === "light" ? "all" : "not all") : "(prefers-color-scheme: light)";
  night.media = chosen ? (chosen === "dark" ? "all" : "not all") : "(prefers-color-scheme: dark)";
}

/** Lets `button` turn the page dark or light; a choice equal to the system's goes back to following it. */
export function offerTheme(button) {
  const show = () => {
    button.setAttribute("aria-pressed", String(isDark()));
    colourTheBrowser();
  };
  button.addEventListener("click", () => {
    const wanted = isDark() ? "light" : "dark";
    const bySystem = (wanted === "dark") === dark.matches;
    if (bySystem) delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = wanted;
    remember("theme", bySystem ? null : wanted);
    show();
  });
  dark.addEventListener("change", show);
  show();
}
