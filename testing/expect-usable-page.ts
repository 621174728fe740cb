import { expect } from '@jest/globals';
import {
  findAccessibilityViolations,
  getHorizontalOverflow,
  type RuleSet,
  type RunningConsole,
  type Theme,
  waitUntilLoaded,
} from './open-console.ts';
import { sampleItems } from './sample.ts';

interface View {
  readonly theme: Theme;
  readonly width: number;
  readonly rules: RuleSet;
}

const views: readonly View[] = [
  // The elements are the same at each width, in another layout.
  { theme: 'dark', width: 360, rules: 'layout' },
  // A theme changes nothing but colors.
  { theme: 'dark', width: 1280, rules: 'colors' },
  { theme: 'light', width: 1280, rules: 'all' },
];

/**
 * Opens a page of the console on a phone and in both themes: one of these views at random, all with `FULL=1`. Expects
 * its heading, no error and no CSP violation, no violation of axe, no scrolling sideways, and no request that changes
 * something.
 */
export async function expectUsablePage(running: RunningConsole, path: string, heading: string): Promise<void> {
  for (const view of sampleItems(views, 1, heading)) {
    const consolePage = await running.open(path, view);
    await waitUntilLoaded(consolePage);
    const { page, problems, changes } = consolePage;
    expect(await page.locator('main h1').textContent()).toBe(heading);
    const findings = {
      view,
      problems,
      violations: await findAccessibilityViolations(consolePage, view.rules),
      overflow: await getHorizontalOverflow(consolePage),
      changes,
    };
    expect(findings).toEqual({ view, problems: [], violations: [], overflow: 0, changes: [] });
    await consolePage.close();
  }
}
