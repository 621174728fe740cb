import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { expectUsablePage } from '../../../testing/expect-usable-page.ts';
import {
  type ConsolePage,
  findAccessibilityViolations,
  type RunningConsole,
  waitUntilLoaded,
} from '../../../testing/open-console.ts';
import { sampleItems } from '../../../testing/sample.ts';
import { waitFor } from '../../../testing/wait-for.ts';

const oddName = 'a/b?#%+ü<script>😀';
const scriptProduct = '<img src=x onerror=alert(1)>';

interface Bought {
  /** Id in the emulator. */
  readonly id: string;
  readonly purchaseId: string;
}

let running: RunningConsole;
let premium: Bought;
let scripted: Bought;

async function post<T>(url: string, body: object): Promise<T> {
  const { baseUrl, secretKey } = running.service;
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(url.startsWith(baseUrl) && { authorization: `Basic ${btoa(`demo:${secretKey}`)}` }),
    },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${url}: ${await response.text()}`);
  return (await response.json()) as T;
}

/** Buys at the emulator and validates the receipt for the customer. */
async function buy(applicationUsername: string, product: object): Promise<Bought> {
  const { emulatorUrl, baseUrl } = running.service;
  const { id, validate } = await post<{ readonly id: string; readonly validate: object }>(
    `${emulatorUrl}/control/purchases`,
    { ...product, applicationUsername },
  );
  const { data } = await post<{
    readonly data: { readonly collection: readonly { readonly purchaseId: string }[] };
  }>(`${baseUrl}/v1/validate`, { ...validate, additionalData: { applicationUsername } });
  return { id, purchaseId: `store_a:${data.collection[0]?.purchaseId}` };
}

const act = async ({ id }: Bought, action: string): Promise<unknown> =>
  await post(`${running.service.emulatorUrl}/control/purchases/${encodeURIComponent(id)}/${action}`, {});

const toPath = (folder: string, id: string): string => `/${folder}/${encodeURIComponent(id)}`;

/** A program of the page that sums its layout shifts. */
const sumLayoutShifts = `new Promise((resolve) => {
  const sum = (list) => resolve(list.getEntries().reduce((total, { value }) => total + value, 0));
  new PerformanceObserver(sum).observe({ type: 'layout-shift', buffered: true });
  setTimeout(() => resolve(0), 1_000);
})`;

/** Opens a page and waits for its content. */
async function openLoaded(path: string, options = {}): Promise<ConsolePage> {
  const consolePage = await running.open(path, options);
  await waitUntilLoaded(consolePage);
  return consolePage;
}

const expectNoProblem = ({ problems, changes }: ConsolePage): void => expect([problems, changes]).toEqual([[], []]);

export function describePeoplePages(getRunning: () => Promise<RunningConsole>): void {
  beforeAll(async () => {
    running = await getRunning();
    premium = await buy('alice', { platform: 'store_a', productId: 'premium', type: 'paid subscription' });
    scripted = await buy(oddName, { platform: 'store_a', productId: scriptProduct, type: 'paid subscription' });
  });

  describe('Customers', () => {
    it('works in both themes, on a phone and with a screen reader', async () => {
      await expectUsablePage(running, '/customers', 'Customers');
    });

    it('leads to the reason of the access of a customer in three steps, by keyboard', async () => {
      const consolePage = await openLoaded('/customers');
      const { page } = consolePage;
      await page.getByRole('searchbox', { name: 'Customer or id' }).fill('alice');
      await page.keyboard.press('Enter');
      // The list of all customers, which has the link, too, is shown until the search begins.
      const results = page.getByRole('region', { name: 'Results' });
      await results.getByRole('link', { name: 'alice', exact: true }).focus();
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { level: 1, name: 'alice' }).waitFor();
      const access = page.getByRole('region', { name: 'Access now' });
      await access.getByText(/^Claimed with a receipt/).waitFor();
      expect(await access.textContent()).toMatch(/premium.*Active.*Renews on/);
      expectNoProblem(consolePage);
    });
  });

  describe('Search', () => {
    it('opens the first result with Enter', async () => {
      const consolePage = await openLoaded('/');
      const { page } = consolePage;
      await page.keyboard.press('Control+k');
      const dialog = page.getByRole('dialog', { name: 'Search' });
      await dialog.getByRole('searchbox').fill('ALIC');
      await dialog.getByRole('link', { name: 'alice', exact: true }).waitFor();
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { level: 1, name: 'alice' }).waitFor();
      expectNoProblem(consolePage);
    });

    it('opens pages and recent customers with the keyboard alone', async () => {
      const consolePage = await openLoaded('/customers/alice');
      const { page } = consolePage;
      await page.keyboard.press('Control+k');
      await page.keyboard.type('reten');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { level: 1, name: 'Retention' }).waitFor();
      // On a busy machine, the page is shown before the search is closed, which ignores the keys.
      await page.getByRole('dialog').waitFor({ state: 'hidden' });
      await page.keyboard.press('Control+k');
      await page.getByRole('region', { name: 'Recent customers' }).waitFor();
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { level: 1, name: 'alice' }).waitFor();
      expectNoProblem(consolePage);
    });
  });

  describe('Navigation', () => {
    it('fits a window of 800 pixels, and opens the account', async () => {
      const consolePage = await openLoaded('/customers');
      const { page } = consolePage;
      const navigation = page.locator('#navigation');
      expect(await navigation.evaluate((element) => element.scrollHeight - element.clientHeight)).toBe(0);
      await page.locator('.session summary').click();
      await navigation.getByLabel('Stay signed in').waitFor();
      expect(await findAccessibilityViolations(consolePage)).toEqual([]);
      await page.locator('h1').click();
      await navigation.getByLabel('Stay signed in').waitFor({ state: 'hidden' });
    });

    it('returns with Back to where a page was left', async () => {
      const consolePage = await openLoaded('/reference');
      const { page } = consolePage;
      const readTop = async () => await page.evaluate<number>('document.documentElement.scrollTop');
      await page.evaluate('scrollTo(0, 700)');
      await waitFor('the position', readTop, (top) => top === 700);
      await page.getByRole('link', { name: 'Settings', exact: true }).click();
      await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor();
      await waitFor('the top', readTop, (top) => top === 0);
      await page.goBack();
      await page.getByRole('heading', { level: 1, name: 'API reference' }).waitFor();
      await waitFor('the position', readTop, (top) => top === 700);
    });
  });

  describe('Customer', () => {
    it('works for a customer and a product with every odd character', async () => {
      await expectUsablePage(running, toPath('customers', oddName), oddName);
      const consolePage = await openLoaded(toPath('customers', oddName));
      const { page } = consolePage;
      await page.getByRole('link', { name: scriptProduct }).first().click();
      await page.getByRole('heading', { level: 1, name: scriptProduct }).waitFor();
      expect(await page.locator('main img').count()).toBe(0);
      await page.getByRole('link', { name: oddName, exact: true }).click();
      await page.getByRole('heading', { level: 1, name: oddName }).waitFor();
      expectNoProblem(consolePage);
    });

    it('moves nothing that it has shown while the rest loads', async () => {
      const moving: string[] = [];
      for (const path of sampleItems([toPath('customers', 'alice'), '/ltv', '/retention?by=product'], 1)) {
        const { page } = await openLoaded(path, { isUncached: true });
        // The limit of "good": https://web.dev/articles/cls
        if ((await page.evaluate<number>(sumLayoutShifts)) >= 0.1) moving.push(path);
      }
      expect(moving).toEqual([]);
    });

    it('reserves the space of cohorts and of the note about filters', async () => {
      for (const path of sampleItems(['/ltv', '/retention?platform=store_a&country=US'], 1)) {
        const consolePage = await openLoaded(path, { isNewTab: true });
        const { page } = consolePage;
        // The responses arrive one after the other, like the responses of a large app.
        let delayMs = 0;
        await page.route('**/v3/**', async (route) => {
          delayMs += 200;
          await delay(delayMs);
          await route.continue();
        });
        await page.reload();
        await waitUntilLoaded(consolePage);
        expect([path, await page.evaluate<number>(sumLayoutShifts)]).toEqual([path, expect.closeTo(0, 1.5)]);
      }
    });

    it('links a purchase after the user has confirmed it', async () => {
      const consolePage = await openLoaded('/customers/bob');
      const { page, changes } = consolePage;
      await page.getByRole('button', { name: 'Link a purchase' }).click();
      await page.getByLabel('Purchase id', { exact: true }).fill(premium.purchaseId);
      await page.keyboard.press('Enter');
      await page.getByText('alice will lose it').waitFor();
      expect(changes).toEqual([]);
      await page.getByRole('dialog').getByRole('button', { name: 'Link', exact: true }).click();
      await page
        .getByRole('region', { name: 'Access now' })
        .getByText(/^Linked manually/)
        .waitFor();
      expect(changes).toEqual(['POST /v3/customers/bob/purchases']);
      expect(consolePage.problems).toEqual([]);
    });
  });

  describe('Purchase', () => {
    it('works in both themes, on a phone and with a screen reader', async () => {
      await expectUsablePage(running, toPath('purchases', premium.purchaseId), 'premium');
    });

    it('follows each step of the purchase without a reload, and announces it', async () => {
      const bought = await buy('carol', { platform: 'store_a', productId: 'followed', type: 'paid subscription' });
      const consolePage = await openLoaded(toPath('purchases', bought.purchaseId));
      const { page } = consolePage;
      const state = page.getByRole('region', { name: 'State' });
      await state.getByText(/^Renews on/).waitFor();
      for (const [action, text] of [
        ['fail-payment', /^The payment failed on .*: in grace until/],
        ['recover', /^Renews on/],
        ['refund', /^Refunded on .*: access ended on/],
      ] as const) {
        await act(bought, action);
        await state.getByText(text).waitFor();
        await page
          .locator('output[aria-live]')
          .getByText(/^The purchase has changed/)
          .waitFor();
      }
      await page.getByRole('tab', { name: 'Payments' }).click();
      await page.getByRole('tabpanel').getByText('Refunded', { exact: true }).waitFor();
      expectNoProblem(consolePage);
    });

    it('refreshes the purchase at the store', async () => {
      const consolePage = await openLoaded(toPath('purchases', scripted.purchaseId));
      const { page, changes } = consolePage;
      await page.getByRole('button', { name: 'Refresh at the store' }).click();
      await page.getByText('The store was queried: the purchase is up to date.').waitFor({ state: 'attached' });
      expect(changes).toEqual([`POST /v3/purchases/${encodeURIComponent(scripted.purchaseId)}/refresh`]);
      expect(consolePage.problems).toEqual([]);
    });
  });

  describe('Transactions', () => {
    it('works with transactions', async () => {
      await expectUsablePage(running, '/transactions', 'Transactions');
    });

    it('keeps the columns that the user selects, and leads on from the menu of a row', async () => {
      const consolePage = await openLoaded('/transactions');
      const { page } = consolePage;
      const header = page.getByRole('columnheader', { name: 'Purchase' });
      const select = async (isShown: boolean) => {
        await page.getByRole('button', { name: 'Columns of Transactions' }).click();
        await page.getByLabel('Purchase', { exact: true }).setChecked(isShown);
        await page.keyboard.press('Escape');
        await header.waitFor({ state: isShown ? 'visible' : 'detached' });
      };
      await select(true);
      await page.reload();
      await waitUntilLoaded(consolePage);
      await header.waitFor();
      await select(false);
      await page.getByRole('button', { name: 'Actions' }).first().click();
      await page.getByRole('button', { name: 'Copy the transaction id' }).waitFor();
      expect(await findAccessibilityViolations(consolePage)).toEqual([]);
      await page.getByRole('link', { name: 'Open the purchase' }).click();
      await page.getByRole('region', { name: 'Table: Facts of the purchase' }).waitFor();
      expectNoProblem(consolePage);
    });

    it('shows the amounts at 1,024 pixels beside a long name', async () => {
      const product = { platform: 'store_b', productId: 'premium', type: 'paid subscription' };
      const order = { ...product, priceMicros: 9_990_000, currency: 'EUR' };
      await buy('a.very.long.address.of.a.customer@subdomain.example-company.org', order);
      const { page } = await openLoaded('/transactions', { width: 1024 });
      const right = async (selector: string) =>
        await page.locator(selector).evaluate((element) => element.getBoundingClientRect().right);
      const menu = 24;
      expect(await right('th:has-text("Amount")')).toBeLessThanOrEqual((await right('.table-scroll')) - menu);
    });

    it('keeps the choice of columns open at a table that gets shorter', async () => {
      const { page } = await openLoaded('/transactions', { width: 800, height: 400 });
      await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
      await page.getByRole('button', { name: 'Columns of Transactions' }).click();
      const shown = await page.locator('.menu:popover-open input:checked').all();
      const readTop = async () => await page.evaluate<number>('document.documentElement.scrollTop');
      const top = await readTop();
      for (const choice of shown.reverse()) await choice.uncheck();
      expect(await readTop()).toBeLessThan(top);
      await page.evaluate("localStorage.removeItem('claimcheck.columns')");
    });

    it('opens the menu of a row on a phone, too', async () => {
      const consolePage = await openLoaded('/transactions', { width: 390 });
      const { page } = consolePage;
      await page.getByRole('button', { name: 'Actions' }).first().click();
      await page.getByRole('button', { name: 'Copy the purchase id' }).waitFor();
      expectNoProblem(consolePage);
    });

    it('downloads the rows that it shows', async () => {
      const consolePage = await openLoaded('/transactions');
      const { page } = consolePage;
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'CSV' }).click(),
      ]);
      expect(download.suggestedFilename()).toBe('transactions.csv');
      expectNoProblem(consolePage);
    });
  });
}
