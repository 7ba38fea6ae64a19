// Runs before the first paint: says that scripts run, and puts on the colours chosen by hand.
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  try {
    const chosen = localStorage.getItem("theme");
    if (chosen === "light" || chosen === "dark") root.dataset.theme = chosen;
  } catch {
    // Storage may be barred; the system's colours do.
  }
})();
