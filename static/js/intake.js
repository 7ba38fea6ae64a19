// The ways in that need no button of their own: drop and paste, anywhere on the page.

/** What was dropped, without folders: they come as files that nobody can read. @param {DataTransfer} transfer */
function filesOf({ items }) {
  const files = [...items].filter((item) => item.kind === "file" && !item.webkitGetAsEntry?.()?.isDirectory);
  return files.map((item) => item.getAsFile());
}

/**
 * @param {{onFiles: (files: File[]) => void, onHover: (hovering: boolean) => void}} listener
 *   onFiles gets what was dropped or pasted, perhaps nothing; onHover says whether files hang over the page
 */
export function listenForFiles({ onFiles, onHover }) {
  let depth = 0; // dragenter and dragleave fire for every element passed
  const hover = (change) => {
    depth = Math.max(0, depth + change);
    onHover(depth > 0);
  };
  const withFiles = (act) => (event) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    act(event);
  };
  addEventListener("dragenter", withFiles(() => hover(1)));
  addEventListener("dragleave", withFiles(() => hover(-1)));
  addEventListener("dragover", withFiles((event) => { event.dataTransfer.dropEffect = "copy"; }));
  addEventListener("drop", withFiles((event) => {
    hover(-depth);
    onFiles(filesOf(event.dataTransfer));
  }));
  addEventListener("paste", (event) => {
    const files = [...(event.clipboardData?.files ?? [])];
    if (files.length === 0) return; // text pasted into a field is none of our business
    event.preventDefault();
    onFiles(files);
  });
}
