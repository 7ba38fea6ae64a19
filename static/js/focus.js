/**
 * Moves the focus to `target` for whoever pressed something that is gone now, so that they need not start from the top
 * of the page; whoever has moved on is left alone.
 * @param {HTMLElement} target @param {HTMLElement} booth where the focus waits while work is done
 */
export function focusUnlessElsewhere(target, booth) {
  if (document.activeElement === document.body || document.activeElement === booth) target.focus({ preventScroll: true });
}
