import { createObservable } from './store.ts';
import { applyNextTheme, readTheme, type Theme } from './stored-theme.ts';

const theme = createObservable<Theme>(readTheme());

export const useTheme = (): Theme => theme.use();

export const selectNextTheme = (): void => theme.set(applyNextTheme(theme.get()));
