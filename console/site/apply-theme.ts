import { readTheme } from './theme.ts';

// Before the first paint: a page must not change its colors while it loads.
const theme = readTheme();
if (theme !== 'system') document.documentElement.dataset.theme = theme;
