import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { buildBasicAuth } from '../../testing/call.ts';
import { callLocalControl } from '../../testing/call-local.ts';
import { expectUsablePage } from '../../testing/expect-usable-page.ts';
import { type RunningConsole, startConsole, waitUntilLoaded } from '../../testing/open-console.ts';

/** Every kind of character that HTML, URLs or CSV treat specially. */
const oddUser = `=<img src=x onerror=alert(1)> "a'/b?c#d%e&f\u202eé 日本 🎉`;

let running: RunningConsole;
beforeAll(async () => {
  running = await startConsole();
  await validatePurchase(oddUser);
});
afterAll(async () => await running?.close());

async function validatePurchase(applicationUsername: string): Promise<void> {
  const { service } = running;
  const order = { platform: 'store_a', productId: '<script>alert(1)</script>', type: 'paid subscription' };
  const { validate } = await callLocalControl(service, '/purchases', { ...order, applicationUsername });
  const init = { method: 'POST', headers: buildBasicAuth(service.appName, service.publicKey) };
  await fetch(`${service.baseUrl}/v1/validate`, { ...init, body: JSON.stringify(validate) });
}

describe('Events', () => {
  it('shows a product whose id is a script as text', async () => {
    await expectUsablePage(running, '/events', 'Events');
  });

  it('finds the event of a customer with odd characters, and shows its calls to the store', async () => {
    const consolePage = await running.open('/events');
    const { page } = consolePage;
    await waitUntilLoaded(consolePage);
    await page.getByLabel('Tag').fill(oddUser);
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByRole('link', { name: 'Receipt validated' }).click();
    await page.getByRole('tab', { name: /^Calls/ }).click();
    await page.getByRole('cell', { name: 'GET /inApps/v1/subscriptions/…' }).first().waitFor();
    expect(await page.getByRole('row').count()).toBeGreaterThan(1);
    expect(consolePage.problems).toEqual([]);
    await expectUsablePage(running, new URL(page.url()).hash.slice(1), 'Receipt validated');
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
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'CSV' }).click(),
    ]);
    const chunks: Buffer[] = [];
    for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
    const csv = Buffer.concat(chunks).toString('utf8');
    expect(csv).toContain('receipt.validated');
    expect(csv).toContain(`"'${oddUser.replaceAll('"', '""')}"`);
  });
});
