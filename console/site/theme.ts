/** `system` follows the setting of the operating system. */
type Theme = 'system' | 'light' | 'dark';

/** The console of the same service has the same theme: console/theme.ts. */
const storageKey = 'claimcheck.theme';
const themes: readonly Theme[] = ['system', 'light', 'dark'];

export function readTheme(): Theme {
  try {
    return themes.find((name) => name === localStorage.getItem(storageKey)) ?? 'system';
  } catch {
    // The storage is blocked.
    return 'system';
  }
}

/** Selects the theme after the current one: system, light, dark. */
function selectNextTheme(): Theme {
  const current = document.documentElement.dataset.theme ?? 'system';
  const next = themes[(themes.indexOf(current as Theme) + 1) % themes.length] ?? 'system';
  if (next === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = next;
  try {
    localStorage.setItem(storageKey, next);
  } catch {
    // The storage is blocked: the theme ends with the page.
  }
  return next;
}

/** Makes the button select the next theme and show the current one. */
export function connectThemeButton(button: HTMLElement): void {
  const show = (theme: Theme): void => {
    button.textContent = theme;
    button.setAttribute('aria-label', `Theme: ${theme}`);
  };
  show(readTheme());
  button.addEventListener('click', () => show(selectNextTheme()));
}
