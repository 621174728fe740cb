import { beforeAll, describe, expect, it } from '@jest/globals';
import { issueViewerKey } from '../../../testing/command-line.ts';
import { emulatorSteps, listProblems, performStep } from '../../../testing/emulator-steps.ts';
import { expectUsablePage } from '../../../testing/expect-usable-page.ts';
import { type ConsolePage, type RunningConsole, waitUntilLoaded } from '../../../testing/open-console.ts';
import { sampleItems } from '../../../testing/sample.ts';

let running: RunningConsole;

const readNow = async (): Promise<number> => {
  const response = await fetch(`${running.service.emulatorUrl}/control/clock`);
  return Date.parse(((await response.json()) as { now: string }).now);
};

const click = async ({ page }: ConsolePage, name: string) =>
  await page.getByRole('button', { name, exact: true }).click();

export function describeEmulator(getRunning: () => Promise<RunningConsole>): void {
  beforeAll(async () => {
    running = await getRunning();
  });

  describe('Emulator page', () => {
    it('shows each step of a subscription without a reload', async () => {
      const consolePage = await running.open('/emulator');
      await consolePage.page.getByText('The stores have no purchase.').waitFor();
      for (const step of emulatorSteps) await performStep(consolePage.page, step);
      expect(listProblems(consolePage)).toEqual([]);
      await expectUsablePage(running, '/emulator', 'Emulator');
    });

    it('buys in every store, with the receipt that the app of the store sends', async () => {
      const consolePage = await running.open('/emulator');
      const { page } = consolePage;
      for (const store of sampleItems(['Google Play', 'Microsoft Store', 'Stripe', 'Braintree'], 2)) {
        await page.getByLabel('Store', { exact: true }).selectOption({ label: store });
        await page.getByLabel('Customer', { exact: true }).fill(`customer of ${store}`);
        await click(consolePage, 'Buy');
        await page.getByRole('heading', { name: `premium of customer of ${store}` }).waitFor();
        await page
          .locator('dt', { hasText: /^Access$/ })
          .locator('+ dd', { hasText: 'Yes' })
          .waitFor();
      }
      expect(listProblems(consolePage)).toEqual([]);
    });

    it('shows the reason if the store refuses an action', async () => {
      const consolePage = await running.open('/emulator');
      const { page } = consolePage;
      await page.getByLabel('Customer', { exact: true }).fill('impatient');
      await click(consolePage, 'Buy');
      await page.getByRole('heading', { name: 'premium of impatient' }).waitFor();
      await click(consolePage, 'Recover the payment');
      await page.getByRole('alert').filter({ hasText: 'Choose another action.' }).waitFor();
    });

    it('moves the clock of the stores and of the service', async () => {
      const consolePage = await running.open('/emulator');
      await waitUntilLoaded(consolePage);
      const before = await readNow();
      await click(consolePage, '+ 1 day');
      await expectClock(consolePage, before + 86_400_000);
      const nextEvent = consolePage.page.getByRole('button', { name: 'To the next event' });
      await nextEvent.click();
      await expectClock(consolePage, before + 2 * 86_400_000);
    });

    it('offers nothing that changes to a viewer key, which watches', async () => {
      const key = await issueViewerKey(running.service);
      const viewer = await running.open('/emulator', { key });
      await viewer.page.getByText('Sign in with the secret key to buy').waitFor();
      await waitUntilLoaded(viewer);
      const main = viewer.page.locator('main');
      expect(await main.getByRole('button', { name: /Buy|Renew|day|year|Refund|Submit/ }).count()).toBe(0);
      await main.getByRole('list', { name: 'Webhooks to the app' }).waitFor();
      expect([viewer.changes, listProblems(viewer)]).toEqual([[], []]);
    });
  });
}

/** Waits until the clock of the emulator has reached the time, and the page shows it. */
async function expectClock({ page }: ConsolePage, time: number): Promise<void> {
  await page.waitForFunction(
    (expected) =>
      Date.parse(
        (
          globalThis as unknown as { document: { querySelector(s: string): { dateTime: string } } }
        ).document.querySelector('main header time').dateTime,
      ) >= expected,
    time,
  );
  expect(await readNow()).toBeGreaterThanOrEqual(time);
}
