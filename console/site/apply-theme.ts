import { applyTheme, readTheme } from '../stored-theme.ts';

// Before the first paint: a page must not change its colors while it loads.
applyTheme(readTheme());
