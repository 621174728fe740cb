import { beforeAll, describe, expect, it } from '@jest/globals';
import {
  type ConsolePage,
  findAccessibilityViolations,
  getHorizontalOverflow,
  type RunningConsole,
} from '../../../testing/open-console.ts';
import { sampleItems } from '../../../testing/sample.ts';
import { waitFor } from '../../../testing/wait-for.ts';

const views = (['light', 'dark'] as const).flatMap((theme) => [390, 1440].map((width) => ({ theme, width })));

/** Expects no error, no violation of axe, and no scrolling sideways. */
async function expectUsableDocument(document: ConsolePage): Promise<void> {
  const violations = await findAccessibilityViolations(document);
  const overflow = await getHorizontalOverflow(document);
  expect({ problems: document.problems, violations, overflow }).toEqual({ problems: [], violations: [], overflow: 0 });
}

export function describeDocumentation(getRunning: () => RunningConsole): void {
  describe('Documentation site', () => {
    /** It is built after the start of the service. */
    beforeAll(async () => {
      const { service } = getRunning();
      await waitFor('the documentation', async () => (await fetch(`${service.baseUrl}/docs`)).status === 200);
    }, 200_000);

    const paths = ['index', 'guides/plain-app', 'console/index', 'reference/index', 'reference/schemas'];
    it.each(sampleItems(paths, 2))('is accessible: %s.html', async (path) => {
      for (const view of sampleItems(views, 1, path)) {
        const document = await getRunning().openDocument(`${path}.html`, view);
        await document.page.locator('main h1').waitFor();
        await expectUsableDocument(document);
        await document.close();
      }
    });

    it.each(sampleItems(views, 1))('has an accessible search and navigation: $theme, $width pixels', async (view) => {
      const document = await getRunning().openDocument('index.html', view);
      const { page } = document;
      if (view.width === 390) {
        await page.getByRole('button', { name: 'Menu' }).click();
        await expectUsableDocument(document);
        await page.keyboard.press('Escape');
      }
      await page.keyboard.press('/');
      await page.getByRole('searchbox').fill('webhook');
      await page.locator('#search-dialog mark').first().waitFor();
      await expectUsableDocument(document);
      await page.getByRole('searchbox').fill('qqqqzzzz');
      await page.getByText('No page has').waitFor();
      await expectUsableDocument(document);
      await document.close();
    });
  });
}
