import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { BreakdownRow } from '../../../lib/statistics/breakdown-contract.ts';
import { startApplicationServer } from '../../../testing/application-server.ts';
import { buildBasicAuth } from '../../../testing/call.ts';
import { letSettingsTakeEffect } from '../../../testing/call-local.ts';
import { runSuccessfully } from '../../../testing/command-line.ts';
import { createEmulatorClient } from '../../../testing/emulator-client.ts';
import { expectUsablePage } from '../../../testing/expect-usable-page.ts';
import {
  type ConsolePage,
  findAccessibilityViolations,
  type RunningConsole,
  waitUntilLoaded,
} from '../../../testing/open-console.ts';
import { sampleItems } from '../../../testing/sample.ts';
import { waitFor } from '../../../testing/wait-for.ts';

let running: RunningConsole;

/** A product id that spreadsheets and browsers could run. */
const scriptProduct = '=<script>alert(1)</script>';

async function buy(order: object): Promise<void> {
  const { baseUrl, appName, publicKey, emulatorUrl } = running.service;
  const { validate } = await createEmulatorClient(emulatorUrl).buy<object>({ autoRenew: true, ...order });
  const headers = { ...buildBasicAuth(appName, publicKey), 'content-type': 'application/json' };
  const response = await fetch(`${baseUrl}/v1/validate`, { method: 'POST', headers, body: JSON.stringify(validate) });
  const result = (await response.json()) as { readonly ok: boolean };
  if (!result.ok) throw new Error(JSON.stringify(result));
}

const secretAuth = () => buildBasicAuth(running.service.appName, running.service.secretKey);

async function readTotals(): Promise<BreakdownRow | undefined> {
  const response = await fetch(`${running.service.baseUrl}/v3/stats/breakdown?interval=range`, {
    headers: secretAuth(),
  });
  const { groups } = (await response.json()) as { groups: { rows: BreakdownRow[] }[] };
  return groups[0]?.rows[0];
}

/**
 * Buys a subscription with a trial that is converted after three days, a trial that is still running, and a yearly one.
 */
async function givenSubscriptions(): Promise<void> {
  await buy({ platform: 'store_a', trial: 'P3D', applicationUsername: 'ann', productId: scriptProduct });
  await fetch(`${running.service.emulatorUrl}/control/clock`, {
    method: 'POST',
    body: JSON.stringify({ advance: 'P4D' }),
  });
  await buy({ platform: 'store_a', trial: 'P7D', applicationUsername: 'bob' });
  await buy({ platform: 'store_b', applicationUsername: 'eve', productId: 'yearly', period: 'P1Y' });
  await waitFor(
    'the statistics of the subscriptions',
    readTotals,
    (totals) => totals?.activeSubscriptions === 3 && totals.trialsConverted === 1,
  );
}

/** Reads the value and the comparison of a figure. */
const readFigure = async ({ page }: ConsolePage, label: string): Promise<(string | null)[]> => {
  const figure = page.locator('.figure').filter({ has: page.locator('dt', { hasText: new RegExp(`^${label}$`) }) });
  return [await figure.locator('.figure-value').textContent(), await figure.locator('.figure-detail').textContent()];
};

const findTable = ({ page }: ConsolePage, caption: string) => page.getByRole('region', { name: `Table: ${caption}` });

const readRows = async (consolePage: ConsolePage, caption: string): Promise<string[]> =>
  await findTable(consolePage, caption).locator('tbody tr').allInnerTexts();

export function describeOverview(getRunning: () => Promise<RunningConsole>): void {
  beforeAll(async () => {
    running = await getRunning();
  });

  describe('Overview', () => {
    it('works without a transaction', async () => {
      await expectUsablePage(running, '/', 'Overview');
    });

    it('has a navigation with readable colors on a phone', async () => {
      const consolePage = await running.open('/', { theme: 'dark', width: 360 });
      const { page } = consolePage;
      // A click would leave the button in the colors of a hovered one.
      await page.getByRole('button', { name: 'Menu' }).press('Enter');
      await page.getByRole('navigation').waitFor();
      await waitUntilLoaded(consolePage);
      for (const colorScheme of ['dark', 'light'] as const) {
        await page.emulateMedia({ colorScheme });
        expect(await findAccessibilityViolations(consolePage, 'colors')).toEqual([]);
      }
    });

    describe('with subscriptions', () => {
      beforeAll(async () => {
        await givenSubscriptions();
        // A loaded console has the time of its start, which was before the clock was moved.
        await (await running.open('/')).page.close();
      }, 300_000);

      it.each(sampleItems(['/?by=product', '/?period=90d&interval=week&metric=conversion'], 1))(
        'is usable at %s',
        async (path) => {
          await expectUsablePage(running, path, 'Overview');
        },
      );

      it('shows active subscriptions and the conversion of trials, compared with the period before', async () => {
        const consolePage = await running.open('/');
        await waitUntilLoaded(consolePage);
        expect(await readFigure(consolePage, 'Active subscriptions')).toEqual(['3', 'No data in the 29 days before']);
        expect(await readFigure(consolePage, 'Trials started')).toEqual(['2', 'No data in the 29 days before']);
        expect(await readFigure(consolePage, 'Trial conversion')).toEqual(['50%', '1 of 2 trials, 1 still running']);
        expect(await readFigure(consolePage, 'New')).toEqual(['3', 'No data in the 29 days before']);
      });

      it('shows charts in a browser whose language is not valid', async () => {
        const consolePage = await running.open('/', { isNewTab: true });
        const { page } = consolePage;
        // As Chrome under the locale C.
        await page.addInitScript(() => {
          Object.defineProperty(Navigator.prototype, 'language', { get: () => 'en-US@posix' });
          Object.defineProperty(Navigator.prototype, 'languages', { get: () => ['en-US@posix'] });
        });
        await page.reload();
        await waitUntilLoaded(consolePage);
        await page.getByRole('slider', { name: 'Active subscriptions, chart' }).waitFor();
        expect(await readFigure(consolePage, 'New')).toEqual(['3', 'No data in the 29 days before']);
        expect(consolePage.problems).toEqual([]);
      });

      it('changes the interval of the charts, and keeps it in the link', async () => {
        const consolePage = await running.open('/?period=12m');
        const { page } = consolePage;
        const chart = page.getByRole('slider', { name: 'Active subscriptions, chart' });
        await waitUntilLoaded(consolePage);
        expect(await chart.getAttribute('aria-valuemax')).toBe('11');
        await page.getByLabel('Interval').selectOption({ label: 'By week' });
        await page.waitForURL(/interval=week/);
        await page.locator('[aria-label="Active subscriptions, chart"]:not([aria-valuemax="11"])').waitFor();
        // Twelve months have at least 48 weeks, even on the first day of the last one.
        expect(Number(await chart.getAttribute('aria-valuemax'))).toBeGreaterThanOrEqual(47);
        expect(await chart.getAttribute('aria-valuetext')).toMatch(/Active 3, In a trial 1$/);
        await page.reload();
        expect(await page.getByLabel('Interval').inputValue()).toBe('week');
      });

      it('shows no figures of the former period if the figures of the selected one cannot be loaded', async () => {
        const consolePage = await running.open('/');
        const { page } = consolePage;
        await waitUntilLoaded(consolePage);
        await page.route(/\/v3\/stats\/breakdown\?interval=month/, (route) =>
          route.fulfill({ status: 504, json: { ok: false, code: 'Timeout', message: 'The request took too long.' } }),
        );
        await page.getByRole('button', { name: '12 months' }).click();
        await page.getByRole('alert').first().waitFor();
        await page.waitForFunction(() => document.querySelectorAll('.figure-value')[1]?.textContent === '–');
        expect(await readFigure(consolePage, 'New')).toEqual(['–', '\u00a0']);
        await page.unroute(/\/v3\/stats\/breakdown\?interval=month/);
        await page.getByRole('button', { name: 'Try again' }).first().click();
        await page.locator('.figure-value', { hasText: /^3$/ }).first().waitFor();
      });

      it('compares figures only with the period before the one that they are of', async () => {
        const consolePage = await running.open('/');
        const { page } = consolePage;
        await waitUntilLoaded(consolePage);
        let release = () => {};
        const released = new Promise<void>((resolve) => {
          release = resolve;
        });
        await page.route(/\/v3\/stats\/breakdown\?interval=month/, async (route) => {
          await released;
          await route.continue();
        });
        const before = page.waitForResponse(/\/v3\/stats\/breakdown\?interval=range/);
        await page.getByRole('button', { name: '12 months' }).click();
        await before;
        await page.locator('dl.figures.is-stale').first().waitFor();
        expect((await readFigure(consolePage, 'New'))[1]).toBe('\u00a0');
        release();
        await page
          .locator('.figure-detail', { hasText: /days before$/ })
          .first()
          .waitFor();
      });

      it('breaks the figures down by store and by product', async () => {
        const consolePage = await running.open('/');
        const { page } = consolePage;
        await waitUntilLoaded(consolePage);
        const stores = await readRows(consolePage, 'Figures by store');
        expect(stores.map((row) => row.split(/\t|\n/)[0]?.trim()).sort()).toEqual(['App Store', 'Google Play']);
        await page.getByRole('button', { name: 'Product', exact: true }).click();
        await page.getByRole('heading', { name: 'By product' }).waitFor();
        await waitUntilLoaded(consolePage);
        const products = await readRows(consolePage, 'Figures by product');
        expect(products).toHaveLength(3);
        expect(products.some((row) => row.includes(scriptProduct))).toBe(true);
        await page.getByLabel('Figure', { exact: true }).selectOption({ label: 'Trial conversion' });
        const chart = page.getByRole('slider', { name: 'Trial conversion by product, chart' });
        await chart.waitFor();
        // The same product id at two stores needs two labels.
        expect(await chart.getAttribute('aria-valuetext')).toMatch(/, App Store .*, Google Play /);
        expect(page.url()).toContain('metric=conversion');
        expect(consolePage.problems).toEqual([]);
      });

      it('fits the breakdown into 1,280 pixels', async () => {
        const consolePage = await running.open('/?by=product');
        await waitUntilLoaded(consolePage);
        const table = findTable(consolePage, 'Figures by product');
        expect(await table.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
      });

      it('downloads the breakdown as CSV, with the period before and without formulas', async () => {
        const consolePage = await running.open('/?by=product');
        const { page } = consolePage;
        await waitUntilLoaded(consolePage);
        const section = page
          .locator('section.section')
          .filter({ has: page.getByRole('heading', { name: 'By product' }) });
        const [download] = await Promise.all([
          page.waitForEvent('download'),
          section.getByRole('button', { name: 'CSV' }).last().click(),
        ]);
        expect(download.suggestedFilename()).toBe('statistics-by-product.csv');
        const [header = '', ...lines] = (await readFile(await download.path(), 'utf8')).trim().split('\r\n');
        expect(header).toContain('Product,Store,Revenue,"Revenue, period before",Active subscriptions');
        expect(lines).toHaveLength(3);
        expect(lines.some((line) => line.startsWith(`store_a:${scriptProduct},store_a,`))).toBe(true);
      });
    });

    it('names a store that does not respond, and dead webhooks with their list', async () => {
      const { service } = running;
      const server = await startApplicationServer();
      server.respondWith({ status: 410 });
      await runSuccessfully(service.environment, ['app', 'set-webhook', service.appName, '--url', server.url]);
      await letSettingsTakeEffect(service);
      await buy({ platform: 'store_a', applicationUsername: 'zoe' });
      const readDue = async () =>
        (await (await fetch(`${service.baseUrl}/v3/due`, { headers: secretAuth() })).json()) as {
          readonly deadWebhooks: { readonly count: number };
        };
      await waitFor('a dead webhook', readDue, ({ deadWebhooks }) => deadWebhooks.count > 0);
      const emulator = createEmulatorClient(service.emulatorUrl);
      const { validate } = await emulator.buy<object>({ platform: 'store_b', applicationUsername: 'max' });
      await emulator.breakStore('store_b');
      const body = JSON.stringify(validate);
      // A single failure is not an outage.
      for (const advance of ['PT3M', 'PT3M']) {
        await fetch(`${service.emulatorUrl}/control/clock`, { method: 'POST', body: JSON.stringify({ advance }) });
        await fetch(`${service.baseUrl}/v1/validate`, { method: 'POST', headers: secretAuth(), body });
      }
      const consolePage = await running.open('/');
      const { page, problems } = consolePage;
      const list = page.locator('.problems');
      await list.getByText(/^\d problems$/).click();
      const details = list.locator('.section');
      await details.getByText(/^\d+ of \d+ requests to Google Play failed in the last hour, the last one /).waitFor();
      await details.getByText(/ responded with 410 Gone\. /).waitFor();
      await details.getByText(/^Webhooks without further attempts: \d+, the oldest created /).waitFor();
      expect(await findAccessibilityViolations(consolePage)).toEqual([]);
      await page.getByRole('link', { name: 'Show and replay them' }).click();
      await page.getByRole('heading', { name: 'Webhooks', level: 1 }).waitFor();
      expect(await page.getByLabel('State').inputValue()).toBe('dead');
      expect(problems).toEqual([]);
      await emulator.clearFaults();
      await server.close();
    });
  });
}
