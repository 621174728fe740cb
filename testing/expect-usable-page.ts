import { expect } from '@jest/globals';
import {
  type ConsolePage,
  findAccessibilityViolations,
  getHorizontalOverflow,
  type RunningConsole,
  waitUntilLoaded,
} from './open-console.ts';

interface View {
  readonly name: string;
  /** Changes the view of a tab that shows the page in the light theme with 1,280 pixels. */
  show(page: ConsolePage['page']): Promise<unknown>;
  readonly rules: 'all' | 'colors' | 'layout';
}

const views: readonly View[] = [
  { name: 'light, 1280 px', show: async () => {}, rules: 'all' },
  // A theme changes nothing but colors.
  {
    name: 'dark, 1280 px',
    show: async (page) => await page.emulateMedia({ colorScheme: 'dark' }),
    rules: 'colors',
  },
  {
    name: 'dark, 360 px',
    async show(page) {
      await page.setViewportSize({ width: 360, height: 800 });
      // A phone loads the page at this width, which a resized window does not do.
      await page.reload();
    },
    // The elements are the same, in another layout.
    rules: 'layout',
  },
  {
    name: 'light, 360 px',
    show: async (page) => await page.emulateMedia({ colorScheme: 'light' }),
    rules: 'colors',
  },
];

/**
 * Opens a page of the console in both themes and on a phone. Expects its heading, no error and no CSP violation, no
 * violation of axe, no scrolling sideways, and no request that changes something.
 */
export async function expectUsablePage(running: RunningConsole, path: string, heading: string): Promise<void> {
  const consolePage = await running.open(path);
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
