/** `system` follows the setting of the operating system. */
export type Theme = 'system' | 'light' | 'dark';

const themes: readonly Theme[] = ['system', 'light', 'dark'];

/** The console and the documentation of a service share the theme. */
const storageKey = 'claimcheck.theme';

/** Reads the stored theme. Returns `system` without one, and if the browser blocks the storage. */
export function readTheme(): Theme {
  try {
    return themes.find((name) => name === localStorage.getItem(storageKey)) ?? 'system';
  } catch {
    return 'system';
  }
}

export function applyTheme(theme: Theme): void {
  const { dataset } = document.documentElement;
  if (theme === 'system') delete dataset.theme;
  else dataset.theme = theme;
}

/** Applies and stores the theme after `current`: system, light, dark. */
export function applyNextTheme(current: Theme): Theme {
  const next = themes[(themes.indexOf(current) + 1) % themes.length] ?? 'system';
  applyTheme(next);
  try {
    localStorage.setItem(storageKey, next);
  } catch {
    // The browser blocks the storage: the theme ends with the page.
  }
  return next;
}
