/**
 * The modules of the console hold the objects of jsdom until the end of the process.
 *
 * @jest-environment-options { "globalsCleanup": "off" }
 */
import { afterEach, describe, expect, it } from '@jest/globals';
import { getEvent, type RequestContent } from '../../lib/events/contract.ts';
import { buildEventContent } from '../../testing/event-content.ts';
import { type RenderedConsole, renderConsole, respondTo } from '../../testing/render-console.ts';

const date = '2026-01-01T00:00:00.000Z';

let page: RenderedConsole;

afterEach(() => page.close());

async function openEvent(lists: Partial<RequestContent>): Promise<void> {
  const context = { appName: 'demo', eventType: 'receipt.validated', eventDate: date, eventDateMs: 0 };
  const route = respondTo(getEvent, () => ({
    analysis: { eventId: 'e1', context: { ...context, includeHeavyData: false }, content: buildEventContent(lists) },
    raw: { eventId: 'e1', date, type: 'receipt.validated' },
  }));
  page = await renderConsole('/events/e1', [route]);
  await page.waitForText('Event id');
}

const readTable = (title: string): (string | null)[][] =>
  page.findAll('tr', title).map((row) => [...row.querySelectorAll('th, td')].map((cell) => cell.textContent));

describe('Event page', () => {
  it('names the members of the content, the store and the product', async () => {
    const purchaseId = 'store_a:1';
    await openEvent({
      purchases: [{ purchaseId, productId: 'store_a:premium', platform: 'store_a' }],
      claims: [{ applicationUsername: 'alice', purchaseId, type: 'manual' }],
      notifications: [{ reason: 'ENTERED_GRACE_PERIOD', purchaseId, newMember: 1 }],
      refreshFailures: [{ platform: 'processor_a', reason: 'Stripe is unavailable.' }],
    });
    expect(readTable('Purchases')).toEqual([
      ['Purchase', 'Product', 'Store'],
      ['store_a:1', 'premium', 'App Store'],
    ]);
    expect(readTable('Claims')).toEqual([
      ['Customer', 'Purchase', 'Type'],
      ['alice', 'store_a:1', 'Linked manually'],
    ]);
    expect(readTable('Notifications')).toEqual([
      ['Reason', 'Purchase', 'New member'],
      ['ENTERED_GRACE_PERIOD', 'store_a:1', '1'],
    ]);
    expect(readTable('Failed refreshes')).toEqual([
      ['Store', 'Reason'],
      ['Stripe', 'Stripe is unavailable.'],
    ]);
  });

  it('shows each absent value of the context with a dash', async () => {
    await openEvent({});
    const values = page.findAll('.fields > div', 'Context').map((field) => field.lastElementChild?.textContent);
    expect(values).toEqual(['receipt.validated', 'e1', ...Array<string>(5).fill('–')]);
  });

  it('shows transactions like the list of transactions', async () => {
    await openEvent({
      transactions: [
        {
          transactionId: 'store_a:9',
          purchaseId: 'store_a:1',
          productId: 'store_a:premium',
          platform: 'store_a',
          sandbox: false,
          purchaseDate: date,
          amountUSD: 9.99,
          amountMicros: 9_990_000,
          currency: 'USD',
          isTrialPeriod: false,
        },
      ],
    });
    const [titles, payment = []] = readTable('Transactions');
    expect(titles).toEqual(['Date', 'Product', 'Store', 'Amount', 'State', 'Actions']);
    expect(payment.slice(1, 4)).toEqual(['premium', 'App Store', '$9.99']);
  });
});
