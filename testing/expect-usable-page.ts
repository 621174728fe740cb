import { expect } from '@jest/globals';
import {
  type ConsolePage,
  findAccessibilityViolations,
  getHorizontalOverflow,
  type RuleSet,
  type RunningConsole,
  waitUntilLoaded,
} from './open-console.ts';

interface View {
  readonly name: string;
  /** Changes the view before. */
  show(page: ConsolePage['page']): Promise<unknown>;
  readonly rules: RuleSet;
}

/** The first view is that of the tab when it opens: a phone loads the page at its width. */
const views: readonly View[] = [
  // The elements are the same at each width, in another layout.
  { name: 'dark, 360 px', show: async () => {}, rules: 'layout' },
  {
    name: 'dark, 1280 px',
    show: async (page) => await page.setViewportSize({ width: 1280, height: 800 }),
    rules: 'colors',
  },
  // A theme changes nothing but colors.
  { name: 'light, 1280 px', show: async (page) => await page.emulateMedia({ colorScheme: 'light' }), rules: 'all' },
];

/**
 * Opens a page of the console in both themes and on a phone. Expects its heading, no error and no CSP violation, no
 * violation of axe, no scrolling sideways, and no request that changes something.
 */
export async function expectUsablePage(running: RunningConsole, path: string, heading: string): Promise<void> {
  const consolePage = await running.open(path, { theme: 'dark', width: 360 });
  const { page, problems, changes } = consolePage;
  for (const { name, show, rules } of views) {
    await show(page);
    await waitUntilLoaded(consolePage);
    expect(await page.locator('main h1').textContent()).toBe(heading);
    const findings = {
      view: name,
      problems,
      violations: await findAccessibilityViolations(consolePage, rules),
      overflow: await getHorizontalOverflow(consolePage),
      changes,
    };
    expect(findings).toEqual({ view: name, problems: [], violations: [], overflow: 0, changes: [] });
  }
  await page.close();
}
