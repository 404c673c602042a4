//! Detects the user's platform.

/** Whether the keyboard is a Mac's. */
export function isMac(): boolean {
  return /Mac OS|iPhone|iPad/.test(navigator.userAgent);
}
