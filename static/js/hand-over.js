// What a person may do with the picture besides saving it.

/** Whether the browser can share this file. @param {File} file */
export function canShare(file) {
  return Boolean(navigator.canShare?.({ files: [file] }));
}

/** Opens the system's share sheet; closing it without sharing is no failure. @param {File} file */
export async function share(file) {
  try {
    await navigator.share({ files: [file] });
  } catch (error) {
    if (error.name !== "AbortError") throw error;
  }
}

/** Whether the browser can put pictures on the clipboard (it needs HTTPS or localhost). */
export function canCopy() {
  return Boolean(navigator.clipboard?.write) && typeof ClipboardItem === "function";
}

/** Puts `picture` on the clipboard, as PNG, which every program takes. @param {Blob} picture */
export function copy(picture) {
  // The promise goes in as it is: Safari wants the item made within the click, not after the drawing.
  return navigator.clipboard.write([new ClipboardItem({ "image/png": asPng(picture) })]);
}

/** @param {Blob} picture @returns {Promise<Blob>} */
async function asPng(picture) {
  if (picture.type === "image/png") return picture;
  const bitmap = await createImageBitmap(picture);
  const canvas = document.createElement("canvas");
  canvas.width = bitmap.width;
  canvas.height = bitmap.height;
  canvas.getContext("2d").drawImage(bitmap, 0, 0);
  bitmap.close();
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("no picture"))), "image/png");
  });
}
