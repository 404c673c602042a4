//! What is known of the reader's machine.

/** Whether the keys are a Mac's. */
export function isMac(): boolean {
  return /Mac OS|iPhone|iPad/.test(navigator.userAgent);
}
