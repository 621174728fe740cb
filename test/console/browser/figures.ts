import { beforeAll, describe, expect, it } from '@jest/globals';
import { buildBasicAuth } from '../../../testing/call.ts';
import { createEmulatorClient } from '../../../testing/emulator-client.ts';
import { expectUsablePage } from '../../../testing/expect-usable-page.ts';
import { type RunningConsole, waitUntilLoaded } from '../../../testing/open-console.ts';
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
    it.each([
      ['/revenue?by=product', 'Revenue'],
      ['/subscriptions?interval=week', 'Subscriptions'],
      ['/retention?by=product', 'Retention'],
      ['/ltv?by=platform&amount=proceeds', 'Lifetime value'],
      ['/conversion', 'Conversion'],
    ])('are usable at %s', async (path, heading) => {
      await expectUsablePage(running, path, heading);
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
