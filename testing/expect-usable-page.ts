import { expect } from '@jest/globals';
import {
  findAccessibilityViolations,
  getHorizontalOverflow,
  type RunningConsole,
  type Theme,
  waitUntilLoaded,
} from './open-console.ts';

const views: readonly (readonly [theme: Theme, width: number])[] = [
  ['light', 1280],
  ['dark', 1280],
  ['light', 375],
];

/**
 * Opens a page of the console in both themes and on a phone. Expects its heading, no error and no CSP violation, no
 * violation of axe, no scrolling sideways, and no request that changes something.
 */
export async function expectUsablePage(running: RunningConsole, path: string, heading: string): Promise<void> {
  for (const [theme, width] of views) {
    const consolePage = await running.open(path, { theme, width });
    await waitUntilLoaded(consolePage);
    expect(await consolePage.page.locator('main h1').textContent()).toBe(heading);
    const findings = {
      view: `${theme}, ${width} px`,
      problems: consolePage.problems,
      violations: await findAccessibilityViolations(consolePage),
      overflow: await getHorizontalOverflow(consolePage),
      changes: consolePage.changes,
    };
    expect(findings).toEqual({ view: findings.view, problems: [], violations: [], overflow: 0, changes: [] });
    await consolePage.page.context().close();
  }
}
