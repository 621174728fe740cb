import { selectLocales } from './format.ts';

/**
 * Gives the browser a valid language. Chrome under a POSIX locale such as `C` reports `en-US@posix`, which `Intl`
 * rejects, and uPlot passes it on as soon as it is loaded. Import this module before uPlot.
 */
if (selectLocales([navigator.language]).length === 0)
  Object.defineProperty(navigator, 'language', { value: selectLocales(navigator.languages)[0] ?? 'en-US' });
