import { beforeAll, describe, expect, it } from '@jest/globals';
import { issueViewerKey } from '../../../testing/command-line.ts';
import { expectUsablePage } from '../../../testing/expect-usable-page.ts';
import { type ConsolePage, type RunningConsole, waitUntilLoaded } from '../../../testing/open-console.ts';
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

/** Buys several times at the emulator. */
async function order(applicationUsername: string, product: object, count: number): Promise<void> {
  for (let number = 0; number < count; number++)
    await post(`${running.service.emulatorUrl}/control/purchases`, { ...product, applicationUsername });
}

async function setNotificationUrl(url: string | null): Promise<void> {
  const init = { method: 'PUT', body: JSON.stringify({ url }) };
  const response = await fetch(`${running.service.emulatorUrl}/control/notifications/store_a`, init);
  expect(response.status).toBe(200);
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

/**
 * Inserts a page without rows before the newest page of a list, like the response of the service if a page has only
 * reads. Returns the requests so far.
 */
async function addPageOfReads(page: ConsolePage['page'], url: RegExp): Promise<readonly string[]> {
  const requests: string[] = [];
  await page.route(url, async (route) => {
    const requested = new URL(route.request().url());
    const isNewest = !requested.searchParams.has('cursor');
    requests.push(isNewest ? 'newest' : 'older');
    if (isNewest) return await route.fulfill({ json: { rows: [], nextCursor: 'behind-the-reads' } });
    if (requested.searchParams.get('cursor') === 'behind-the-reads') requested.searchParams.delete('cursor');
    await route.continue({ url: requested.href });
  });
  return requests;
}

const act = async ({ id }: Bought, action: string): Promise<unknown> =>
  await post(`${running.service.emulatorUrl}/control/purchases/${encodeURIComponent(id)}/${action}`, {});

const toPath = (folder: string, id: string): string => `/${folder}/${encodeURIComponent(id)}`;

/** Opens a page and waits for its content. */
async function openLoaded(path: string, options = {}): Promise<ConsolePage> {
  const consolePage = await running.open(path, options);
  await waitUntilLoaded(consolePage);
  return consolePage;
}

const expectNoProblem = async ({ page, problems, changes }: ConsolePage): Promise<void> => {
  expect([problems, changes]).toEqual([[], []]);
  await page.close();
};

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
      await expectNoProblem(consolePage);
    });

    it('states what to do if nothing is found', async () => {
      const consolePage = await openLoaded('/customers?q=nobody');
      await consolePage.page.getByText('Nothing has the name or id nobody.').waitFor();
      await expectNoProblem(consolePage);
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
      await page.getByRole('link', { name: oddName }).click();
      await page.getByRole('heading', { level: 1, name: oddName }).waitFor();
      await expectNoProblem(consolePage);
    });

    describe('with more entries than a page of the timeline', () => {
      let purchaseId: string;
      const link = async () => await post(`${running.service.baseUrl}/v3/customers/dave/purchases`, { purchaseId });
      beforeAll(async () => {
        ({ purchaseId } = await buy('dave', { platform: 'store_a', productId: 'often', type: 'paid subscription' }));
        for (let count = 0; count < 105; count++) await link();
      });

      it('shows payments that are older than the newest page of the timeline', async () => {
        const consolePage = await openLoaded(`${toPath('customers', 'dave')}?tab=payments`);
        const { page } = consolePage;
        await page.getByRole('tabpanel').getByRole('cell', { name: 'often' }).waitFor();
        await page.getByRole('tab', { name: 'Timeline' }).click();
        await page.getByRole('button', { name: 'Show older entries' }).waitFor();
        await expectNoProblem(consolePage);
      });

      it('loads older entries until one is of the selected kind', async () => {
        const consolePage = await openLoaded(`${toPath('customers', 'dave')}?kind=payment`);
        await consolePage.page.getByRole('list', { name: 'Timeline of the customer' }).getByText(/^Paid/).waitFor();
        await expectNoProblem(consolePage);
      });

      it('loads older entries once each, and keeps them while new ones arrive', async () => {
        const consolePage = await openLoaded(toPath('customers', 'dave'));
        const { page } = consolePage;
        const entries = page.getByRole('list', { name: 'Timeline of the customer' }).getByRole('listitem');
        const older = page.getByRole('button', { name: 'Show older entries' });
        await older.click();
        await entries.getByText('Receipt validated').waitFor();
        await older.waitFor({ state: 'detached' });
        const count = await entries.count();
        expect(count).toBeGreaterThanOrEqual(107);
        await link();
        await waitFor('the new entry', async () => (await entries.count()) === count + 1);
        await expectNoProblem(consolePage);
      });
    });

    it('shows the entries behind a page of the timeline that has only reads', async () => {
      const { purchaseId } = await buy('grace', { platform: 'store_a', productId: 'often', type: 'paid subscription' });
      const consolePage = await running.open('/');
      const { page } = consolePage;
      const requests = await addPageOfReads(page, /\/v3\/customers\/grace\/timeline\?/);
      await consolePage.go(toPath('customers', 'grace'));
      await page.getByText('Receipt validated for grace').waitFor();
      expect(requests.slice(0, 2)).toEqual(['newest', 'older']);
      const searches = await addPageOfReads(page, /\/v3\/search\/.*reads=false/);
      await page.getByRole('link', { name: 'often' }).first().click();
      await page.getByRole('heading', { level: 1, name: 'often' }).waitFor();
      expect(decodeURIComponent(new URL(page.url()).hash)).toContain(purchaseId);
      await page.getByRole('tab', { name: 'Raw' }).click();
      await page.getByText(/^receipt\.validated/).waitFor();
      expect(searches.slice(0, 2)).toEqual(['newest', 'older']);
      await expectNoProblem(consolePage);
    });

    it('shows the access of an old subscription below 105 later purchases, and pages all of them', async () => {
      const user = 'heidi';
      await buy(user, { platform: 'store_a', productId: 'old-plan', type: 'paid subscription' });
      const coins = { platform: 'store_a', productId: 'coins', type: 'consumable' };
      // A notification of each of them would take longer than the rest of the test.
      await setNotificationUrl(null);
      await order(user, coins, 103);
      await setNotificationUrl(`${running.service.baseUrl}/v3/webhook/store_a/${running.service.appName}`);
      // A validation records the evidence and 100 more purchases of the history of the store account.
      for (let validation = 0; validation < 2; validation++) await buy(user, coins);
      const consolePage = await openLoaded(toPath('customers', user));
      const { page } = consolePage;
      const access = page.getByRole('region', { name: 'Access now' });
      expect(await access.textContent()).toMatch(/old-plan.*Active.*Renews on/);
      const all = page.getByRole('region', { name: 'All purchases' });
      await all.getByText('1–100 of 106').waitFor();
      expect([await all.getByRole('listitem').count(), await all.getByText('old-plan').count()]).toEqual([100, 0]);
      // A notification that is processed before the validation claims the purchase by the name in the store.
      const reasons = all.getByText(/^Claimed (with a receipt|because the store)/);
      await reasons.nth(9).waitFor();
      expect(await reasons.count()).toBe(10);
      await all.getByRole('button', { name: 'Show the reasons of 10 more purchases' }).click();
      await reasons.nth(19).waitFor();
      await all.getByRole('button', { name: 'Older' }).click();
      await all.getByText('101–106 of 106').waitFor();
      expect(new URL(page.url()).hash).toContain('skip=100');
      await all.getByRole('link', { name: 'old-plan' }).waitFor();
      await all.getByRole('button', { name: 'Newer' }).click();
      await all.getByText('1–100 of 106').waitFor();
      expect(new URL(page.url()).hash).not.toContain('skip');
      await expectNoProblem(consolePage);
    });

    it('states what to do for an unknown name', async () => {
      const consolePage = await openLoaded('/customers/nobody');
      await consolePage.page.getByText('The app has no customer with this name.').waitFor();
      await expectNoProblem(consolePage);
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
      await page.close();
    });

    it('lists a purchase that the customer claims and another customer owns', async () => {
      const bought = await buy('gina', { platform: 'store_a', productId: 'lost', type: 'paid subscription' });
      const { purchaseId } = bought;
      await post(`${running.service.baseUrl}/v3/customers/hugo/purchases`, { purchaseId });
      const consolePage = await openLoaded(toPath('customers', 'gina'));
      const claims = consolePage.page.getByRole('region', { name: 'Claimed, but not owned' });
      await claims.getByRole('link', { name: 'lost' }).waitFor();
      await claims.getByText(/^Claimed .* on .*, but it is linked manually to hugo\.$/).waitFor();
      await expectNoProblem(consolePage);
    });

    it('shows the new reason after a link of a purchase that the customer already owned', async () => {
      const { purchaseId } = await buy('ivan', { platform: 'store_a', productId: 'kept', type: 'paid subscription' });
      const consolePage = await openLoaded(toPath('customers', 'ivan'));
      const { page } = consolePage;
      const access = page.getByRole('region', { name: 'Access now' });
      await access.getByText(/^Claimed with a receipt/).waitFor();
      await page.getByRole('button', { name: 'Link a purchase' }).click();
      await page.getByLabel('Purchase id', { exact: true }).fill(purchaseId);
      await page.keyboard.press('Enter');
      await page.getByRole('dialog').getByRole('button', { name: 'Link', exact: true }).click();
      await access.getByText(/^Linked manually/).waitFor();
      expect(consolePage.problems).toEqual([]);
      await page.close();
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
      await expectNoProblem(consolePage);
    });

    it('refreshes the purchase at the store', async () => {
      const consolePage = await openLoaded(toPath('purchases', scripted.purchaseId));
      const { page, changes } = consolePage;
      await page.getByRole('button', { name: 'Refresh at the store' }).click();
      await page.getByText('The store was queried: the purchase is up to date.').waitFor({ state: 'attached' });
      expect(changes).toEqual([`POST /v3/purchases/${encodeURIComponent(scripted.purchaseId)}/refresh`]);
      expect(consolePage.problems).toEqual([]);
      await page.close();
    });

    it('states what to do for an unknown id', async () => {
      const consolePage = await openLoaded('/purchases/store_a:1');
      await consolePage.page.getByText('The app has no purchase with this id.').waitFor();
      expect(consolePage.problems.filter((problem) => !problem.includes('404'))).toEqual([]);
      await consolePage.page.close();
    });
  });

  describe('Transactions', () => {
    it('works with transactions', async () => {
      await expectUsablePage(running, '/transactions', 'Transactions');
    });

    it('filters by days, and keeps the filter in the URL', async () => {
      const consolePage = await openLoaded('/transactions?from=2001-01-01&to=2001-01-31');
      const { page } = consolePage;
      await page.getByText('These days have no transactions.').waitFor();
      await page.getByRole('button', { name: 'All days' }).click();
      await page.getByRole('table', { name: 'Transactions' }).getByRole('cell').first().waitFor();
      expect(new URL(page.url()).hash).toBe('#/transactions');
      await expectNoProblem(consolePage);
    });

    it('downloads the rows that it shows', async () => {
      const consolePage = await openLoaded('/transactions');
      const { page } = consolePage;
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'CSV' }).click(),
      ]);
      expect(download.suggestedFilename()).toBe('transactions.csv');
      await expectNoProblem(consolePage);
    });
  });

  describe('viewer key', () => {
    it('reads every page, is offered no change and sends none', async () => {
      const key = await issueViewerKey(running.service);
      for (const path of ['/customers', '/customers/alice', toPath('purchases', premium.purchaseId), '/transactions']) {
        const consolePage = await openLoaded(path, { key });
        const { page } = consolePage;
        for (const name of ['Link a purchase', 'Refresh at the store'])
          expect([path, name, await page.getByRole('button', { name }).count()]).toEqual([path, name, 0]);
        await expectNoProblem(consolePage);
      }
    });
  });
}
