import { beforeAll, describe, expect, it } from '@jest/globals';
import { callLocalService, type Json } from '../../../testing/call-local.ts';
import { expectUsablePage } from '../../../testing/expect-usable-page.ts';
import type { RunningConsole } from '../../../testing/open-console.ts';
import { createShowcase } from '../../../testing/showcase.ts';

let running: RunningConsole;

/** On a slow machine, the first request to a store can fail. */
const badges = { ok: 'Connected', degraded: 'Some requests fail', failing: 'Failing' } as const;

/** The app must be the one that receives the notifications of the stores. */
export function describeStores(getRunning: () => Promise<RunningConsole>): void {
  beforeAll(async () => {
    running = await getRunning();
    const order = { platform: 'store_a', productId: 'premium', type: 'paid subscription' };
    await createShowcase(running.service).buy('customer of the App Store', order);
  });

  describe('Stores page', () => {
    it('shows each store with its notification URL to copy', async () => {
      await expectUsablePage(running, '/stores', 'Stores');
      const { body } = await callLocalService(running.service, '/v3/stores');
      const { health } = body.rows.find(({ platform }: Json) => platform === 'store_a');
      const badge = badges[health as keyof typeof badges];
      const { page } = await running.open('/stores');
      const store = page.getByRole('region', { name: 'App Store' });
      await store.getByText(badge, { exact: true }).waitFor();
      await store.getByText(`${running.service.baseUrl}/v3/webhook/store_a/${running.service.appName}`).waitFor();
      await store.getByRole('button', { name: 'Copy the notification URL of App Store' }).waitFor();
      const requests = store.locator('dt', { hasText: 'Requests in 24 hours' }).locator('+ dd');
      // On a slow machine, a request to the store can fail.
      await requests.filter({ hasText: /^At least [1-9]\d*, [\d.]+% failed$/ }).waitFor();
      await store.locator('dt', { hasText: 'Last notification' }).waitFor();
    });

    it('checks the settings of a store, and shows what is wrong and how to correct it', async () => {
      const setProblem = async (problem: string | null) => {
        const init = { method: 'PUT', body: JSON.stringify({ problem }) };
        expect((await fetch(`${running.service.emulatorUrl}/control/accounts/store_b`, init)).status).toBe(200);
      };
      await setProblem('no-access');
      const consolePage = await running.open('/stores');
      const { page } = consolePage;
      await page.getByRole('button', { name: 'Check the settings of App Store' }).click();
      await page.getByRole('region', { name: 'App Store' }).locator('.notice-good').waitFor();
      await page.getByRole('button', { name: 'Check the settings of Google Play' }).click();
      await page.getByRole('region', { name: 'Google Play' }).locator('.notice-warn').first().waitFor();
      expect(consolePage.changes).toEqual(['POST /v3/stores/store_a/check', 'POST /v3/stores/store_b/check']);
      expect(consolePage.problems).toEqual([]);
      await setProblem(null);
    });
  });
}
