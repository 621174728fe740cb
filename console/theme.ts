import { createObservable } from './store.ts';

/** `system` follows the setting of the operating system. */
export type Theme = 'system' | 'light' | 'dark';

const storageKey = 'claimcheck.theme';
const themes: readonly Theme[] = ['system', 'light', 'dark'];
const theme = createObservable<Theme>(themes.find((name) => name === localStorage.getItem(storageKey)) ?? 'system');

export const useTheme = (): Theme => theme.use();

/** Applies the stored theme to the document. */
export function applyTheme(): void {
  const name = theme.get();
  if (name === 'system') document.documentElement.removeAttribute('data-theme');
  else document.documentElement.setAttribute('data-theme', name);
}

/** Selects the theme after the current one: system, light, dark. */
export function selectNextTheme(): void {
  const next = themes[(themes.indexOf(theme.get()) + 1) % themes.length] ?? 'system';
  localStorage.setItem(storageKey, next);
  theme.set(next);
  applyTheme();
}
