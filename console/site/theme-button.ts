import { applyNextTheme, readTheme } from '../stored-theme.ts';

/** Makes the button select the next theme and show the current one. */
export function connectThemeButton(button: HTMLElement): void {
  let theme = readTheme();
  const show = (): void => {
    button.textContent = theme;
    button.setAttribute('aria-label', `Theme: ${theme}`);
  };
  show();
  button.addEventListener('click', () => {
    theme = applyNextTheme(theme);
    show();
  });
}
