import { beforeAll, describe, expect, it } from '@jest/globals';
import { buildBasicAuth } from '../../../testing/call.ts';
import { callLocalControl } from '../../../testing/call-local.ts';
import { expectUsablePage } from '../../../testing/expect-usable-page.ts';
import { type ConsolePage, type RunningConsole, waitUntilLoaded } from '../../../testing/open-console.ts';

/** Every kind of character that HTML, URLs or CSV treat specially. */
const oddUser = `=<img src=x onerror=alert(1)> "a'/b?c#d%e&f\u202eé 日本 🎉`;

let running: RunningConsole;

async function validatePurchase(applicationUsername: string): Promise<void> {
  const { service } = running;
  const order = { platform: 'store_a', productId: '<script>alert(1)</script>', type: 'paid subscription' };
  const { validate } = await callLocalControl(service, '/purchases', { ...order, applicationUsername });
  const init = { method: 'POST', headers: buildBasicAuth(service.appName, service.publicKey) };
  await fetch(`${service.baseUrl}/v1/validate`, { ...init, body: JSON.stringify(validate) });
}

async function downloadCsv(page: ConsolePage['page']): Promise<string> {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'CSV' }).click(),
  ]);
  const chunks: Buffer[] = [];
  for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

export function describeEvents(getRunning: () => Promise<RunningConsole>): void {
  beforeAll(async () => {
    running = await getRunning();
    await validatePurchase(oddUser);
  });

  describe('Events', () => {
    it('shows a product whose id is a script as text', async () => {
      await expectUsablePage(running, '/events', 'Events');
    });

    it('finds the event of a customer with odd characters, and shows its calls to the store', async () => {
      const consolePage = await running.open('/events');
      const { page } = consolePage;
      await waitUntilLoaded(consolePage);
      await page.getByLabel('Tag').fill(oddUser);
      await page.getByRole('button', { name: 'Search', exact: true }).click();
      await page.getByRole('link', { name: 'Receipt validated' }).click();
      await page.getByRole('tab', { name: /^Calls/ }).click();
      await page.getByRole('cell', { name: 'GET /inApps/v1/subscriptions/…' }).first().waitFor();
      expect(await page.getByRole('row').count()).toBeGreaterThan(1);
      expect(consolePage.problems).toEqual([]);
      await expectUsablePage(running, new URL(page.url()).hash.slice(1), 'Receipt validated');
    });

    it('keeps a button focused that is pressed by keyboard, while it loads', async () => {
      const { page } = await running.open('/');
      // An older page that does not arrive.
      await page.route(/\/v3\/events\?/, async (route) => {
        if (new URL(route.request().url()).searchParams.has('cursor')) return;
        const response = await route.fetch();
        await route.fulfill({ response, json: { ...(await response.json()), nextCursor: 'older' } });
      });
      await page.getByRole('navigation').getByRole('link', { name: 'Events' }).click();
      const button = page.getByRole('button', { name: 'Show older events' });
      await button.waitFor();
      await button.focus();
      await page.keyboard.press('Enter');
      await page.locator('button[aria-busy=true]:focus', { hasText: 'Show older events' }).waitFor();
    });

    it('keeps the text and the focus of the filters while another filter changes', async () => {
      const { page } = await running.open('/events');
      await page.getByLabel('Tag').fill('half a na');
      await page.getByLabel('Show reads').focus();
      await page.keyboard.press('Space');
      await page.waitForURL(/reads=true/);
      expect(await page.getByLabel('Tag').inputValue()).toBe('half a na');
      await page.locator('input[type=checkbox]:focus').waitFor();
      await page.getByLabel('Tag').fill('');
      await page.getByRole('button', { name: 'Failures' }).click();
      await page.waitForURL(/tag=error/);
      await page.waitForFunction(
        () => document.querySelector<HTMLInputElement>('input[type=search]')?.value === 'error',
      );
      await page.goBack();
      await page.waitForFunction(() => document.querySelector<HTMLInputElement>('input[type=search]')?.value === '');
    });

    it('selects the parts of an event with the keyboard', async () => {
      const consolePage = await running.open('/events');
      const { page } = consolePage;
      await page.getByRole('link', { name: 'Receipt validated' }).first().click();
      await page.getByRole('tab', { name: 'Summary' }).press('ArrowLeft');
      await page.getByRole('region', { name: 'raw event' }).waitFor();
      expect(await page.getByRole('tab', { name: 'Raw' }).evaluate('document.activeElement.textContent')).toBe('Raw');
    });

    it('shows new events in the live tail without reloading', async () => {
      const { page } = await running.open('/events?live=true');
      await validatePurchase('newcomer');
      await page.getByRole('link', { name: 'newcomer' }).first().waitFor();
    });

    it('downloads the shown rows, with text that a spreadsheet does not run', async () => {
      const { page } = await running.open(`/events?${new URLSearchParams({ tag: oddUser })}`);
      const csv = await downloadCsv(page);
      expect(csv).toContain('receipt.validated');
      expect(csv).toContain(`"'${oddUser.replaceAll('"', '""')}"`);
    });
  });
}
