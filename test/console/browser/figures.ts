import { beforeAll, describe, expect, it } from '@jest/globals';
import { buildBasicAuth } from '../../../testing/call.ts';
import { createEmulatorClient } from '../../../testing/emulator-client.ts';
import { expectUsablePage } from '../../../testing/expect-usable-page.ts';
import { type RunningConsole, waitUntilLoaded } from '../../../testing/open-console.ts';
import { sampleItems } from '../../../testing/sample.ts';
import { waitFor } from '../../../testing/wait-for.ts';

let running: RunningConsole;

async function buy(order: object): Promise<void> {
  const { baseUrl, appName, publicKey, emulatorUrl } = running.service;
  const { validate } = await createEmulatorClient(emulatorUrl).buy<object>({ autoRenew: true, ...order });
  const headers = { ...buildBasicAuth(appName, publicKey), 'content-type': 'application/json' };
  const response = await fetch(`${baseUrl}/v1/validate`, { method: 'POST', headers, body: JSON.stringify(validate) });
  expect(await response.json()).toMatchObject({ ok: true });
}

async function readMrr(): Promise<number> {
  const { baseUrl, appName, secretKey } = running.service;
  const response = await fetch(`${baseUrl}/v3/stats/mrr`, { headers: buildBasicAuth(appName, secretKey) });
  const { rows } = (await response.json()) as { readonly rows: readonly { readonly mrrUSD: number }[] };
  return rows.at(-1)?.mrrUSD ?? 0;
}

export function describeFigures(getRunning: () => Promise<RunningConsole>): void {
  beforeAll(async () => {
    running = await getRunning();
    await buy({ platform: 'store_a', applicationUsername: 'fay' });
    await buy({ platform: 'store_b', applicationUsername: 'gus', productId: 'yearly', period: 'P1Y' });
    await waitFor('the figures of two subscriptions', readMrr, (mrr) => mrr > 0);
  });

  describe('Pages of figures', () => {
    const pages = [
      ['/revenue?period=quarter&by=product', 'Revenue'],
      ['/revenue?tab=mrr', 'Revenue'],
      ['/subscriptions?interval=week', 'Subscriptions'],
      ['/retention?by=product', 'Retention'],
      ['/ltv?by=platform&amount=proceeds', 'Lifetime value'],
      ['/conversion?by=country&platform=store_a&country=US', 'Conversion'],
    ] as const;
    it.each(sampleItems(pages, 2))('are usable at %s', async (path, heading) => {
      await expectUsablePage(running, path, heading);
    });

    it('have no gap below their figures', async () => {
      for (const width of sampleItems([1280, 820, 620, 390], 2)) {
        const consolePage = await running.open('/ltv', { width });
        const { page } = consolePage;
        await waitUntilLoaded(consolePage);
        const right = async (selector: string) =>
          await page.locator(selector).evaluate((element) => Math.round(element.getBoundingClientRect().right));
        expect([width, (await right('.figures')) - (await right('.figure:last-child'))]).toEqual([width, 1]);
        await consolePage.close();
      }
    });

    it('annotate the charts of every page', async () => {
      const consolePage = await running.open('/revenue');
      const { page, problems, changes } = consolePage;
      await page.getByRole('button', { name: 'Annotations' }).click();
      const dialog = page.getByRole('dialog', { name: 'Annotations' });
      await dialog.getByLabel('Text').fill('Release 2.0');
      await page.keyboard.press('Enter');
      await dialog.getByRole('listitem').getByText('Release 2.0').waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('link', { name: 'Subscriptions', exact: true }).click();
      await waitUntilLoaded(consolePage);
      const chart = page.getByRole('slider', { name: 'Churn rate, chart' });
      await chart.press('End');
      expect(await chart.getAttribute('aria-valuetext')).toMatch(/: Release 2\.0$/);
      await page.locator('.chart-tip').getByText('Release 2.0').waitFor();
      await page.getByRole('button', { name: 'Annotations (1)' }).click();
      await dialog.getByRole('button', { name: 'Delete the annotation Release 2.0' }).click();
      await dialog.getByText('The shown days have no annotation.').waitFor();
      expect(changes.map((change) => change.split(' ')[0])).toEqual(['POST', 'DELETE']);
      expect(problems).toEqual([]);
    });

    it('combine filters, which stay from page to page', async () => {
      const consolePage = await running.open('/revenue?tab=mrr&by=country');
      const { page, problems } = consolePage;
      await waitUntilLoaded(consolePage);
      const filters = page.getByRole('search', { name: 'Filters' });
      await filters.getByLabel('Store').selectOption('Google Play');
      await filters.getByLabel('Country').selectOption('Germany');
      await waitUntilLoaded(consolePage);
      await page.getByText('The filters match 0 paying subscriptions').waitFor();
      await filters.getByLabel('Country').selectOption('All');
      await page.getByRole('link', { name: 'Retention', exact: true }).click();
      await waitUntilLoaded(consolePage);
      expect(await filters.getByLabel('Store').inputValue()).toBe('store_b');
      const cohorts = page.getByRole('region', { name: 'Table: Cohorts by subscriptions' });
      expect(await cohorts.locator('tbody tr').last().locator('td').first().textContent()).toBe('1');
      await page.getByRole('button', { name: 'Remove the filters' }).click();
      await waitUntilLoaded(consolePage);
      expect(await cohorts.locator('tbody tr').last().locator('td').first().textContent()).toBe('2');
      expect(problems).toEqual([]);
    });

    it('show the values of the interval at the pointer', async () => {
      const consolePage = await running.open('/revenue?tab=mrr');
      const { page } = consolePage;
      await waitUntilLoaded(consolePage);
      const chart = page.getByRole('slider', { name: 'MRR, chart', exact: true });
      await chart.hover({ position: { x: 300, y: 100 } });
      const tip = page.locator('.chart-tip');
      await tip.waitFor();
      // The slider has the text of the same interval.
      expect(await chart.getAttribute('aria-valuetext')).toContain(await tip.locator('.chart-day').textContent());
      await page.mouse.move(0, 0);
      await tip.waitFor({ state: 'detached' });
    });

    it('lead from the overview to the loss by product and store in three clicks, and to its rows', async () => {
      const consolePage = await running.open('/');
      const { page, problems } = consolePage;
      await page.getByRole('link', { name: 'Retention', exact: true }).click();
      await page.getByRole('button', { name: 'Product', exact: true }).click();
      await waitUntilLoaded(consolePage);
      const loss = page.getByRole('region', { name: 'Table: Loss in month 2 by product' });
      expect(await loss.locator('tbody tr').count()).toBe(2);
      await loss.getByRole('link', { name: 'Show' }).first().click();
      await page.getByRole('heading', { name: 'Selected transactions' }).waitFor();
      await waitUntilLoaded(consolePage);
      expect(await page.locator('tbody tr').count()).toBe(1);
      expect(problems).toEqual([]);
    });
  });
}
