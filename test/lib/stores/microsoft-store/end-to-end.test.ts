import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { dayMs } from '../../../../lib/foundation/time.ts';
import { createUniqueName } from '../../../../testing/given.ts';
import { startTestService, type TestService } from '../../../../testing/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

const buy = async (order: object) => {
  const purchase = { platform: 'store_c', productId: '9NBLGGH52Q8X', type: 'paid subscription', ...order };
  return await service.callControl('/purchases', purchase);
};

/** Creates a StoreID key like a client's device does with a service ticket. */
async function createKey(ticket: { serviceTicketType: string; serviceTicket: string }, publisherUserId: string) {
  const path = `/onestore.microsoft.com/b2b/keys/create/${ticket.serviceTicketType}`;
  const body = JSON.stringify({ serviceTicket: ticket.serviceTicket, publisherUserId });
  return (await (await fetch(service.emulatorUrl + path, { method: 'POST', body })).json()) as { key: string };
}

describe('POST /v1/validate (Microsoft Store)', () => {
  it('returns a ticket to an existing client, then its subscription', async () => {
    const keys = await service.createApp(['store_c']);
    const { id } = await buy({ applicationUsername: 'Ann' });
    const getForm = (name: string) => service.callControl(`/purchases/${encodeURIComponent(id)}?form=${name}`);
    const [{ validate: brand }, { validate: withoutKey }] = [await getForm('brand'), await getForm('ticket')];
    const first = await service.validate(keys, { ...withoutKey, transaction: brand.transaction });
    const ticket = { serviceTicketType: 'purchase', serviceTicket: expect.any(String) };
    expect(first).toMatchObject({
      status: 200,
      body: {
        ok: false,
        status: 412,
        code: 6778006,
        data: { ...ticket, transaction: { type: 'windows-store-transaction', ...ticket } },
      },
    });
    const { key } = await createKey(first.body.data, 'Ann');
    const license = { type: 'windows-store-license', storeIdKey_purchase: key, storeIdKey_collections: null };
    const second = await service.validate(keys, { ...withoutKey, transaction: brand.transaction, license });
    expect(second).toMatchObject({
      status: 200,
      body: {
        ok: true,
        data: {
          id: '9NBLGGH52Q8X',
          transaction: { type: 'windows-store-transaction', transactionId: id, recurrenceState: 'Active' },
          collection: [
            {
              id: '9NBLGGH52Q8X',
              platform: 'windows-store-transaction',
              purchaseId: id,
              transactionId: id,
              isExpired: false,
              renewalIntent: 'Renew',
            },
          ],
        },
      },
    });
  });

  it('accepts the neutral vocabulary and rejects a refunded subscription', async () => {
    const keys = await service.createApp(['store_c']);
    const { id, validate } = await buy({ applicationUsername: 'Bob', productId: '9NBLGGH52Q8Y' });
    expect(await service.validate(keys, validate)).toMatchObject({
      body: { ok: true, data: { transaction: { type: 'store_c-transaction' }, collection: [{ purchaseId: id }] } },
    });
    await service.callControl(`/purchases/${encodeURIComponent(id)}/refund`, {});
    expect(await service.validate(keys, validate)).toMatchObject({ body: { ok: false, code: 6778003, status: 419 } });
  });

  it('rejects a product that the customer does not own', async () => {
    const keys = await service.createApp(['store_c']);
    const { validate } = await buy({ type: 'non consumable', productId: '9NBLGGH52Q8Z' });
    const transaction = { ...validate.transaction, storeId: '9NBLGGH52000' };
    expect(await service.validate(keys, { ...validate, transaction })).toMatchObject({
      body: { ok: false, code: 6778001 },
    });
  });

  it.each([
    ['developer-managed', {}],
    ['store-managed', { quantity: 2 }],
  ])(
    'returns a %s consumable that it consumed as not consumed, also to a client that lost the response',
    async (_kind, quantity) => {
      const keys = await service.createApp(['store_c'], { consume: true });
      const applicationUsername = createUniqueName('user');
      const order = { type: 'consumable', productId: '9NBLGGH5WVP6', applicationUsername, ...quantity };
      const { id, validate } = await buy(order);
      const { body: first } = await service.validate(keys, validate);
      expect(first).toMatchObject({
        ok: true,
        data: { collection: [{ isConsumed: false, quantity: 1, ...quantity }] },
      });
      expect(await service.callControl(`/purchases/${id}`)).toMatchObject({ quantity: 0 });
      const { body: again } = await service.validate(keys, validate);
      expect(again).toMatchObject({ ok: true, data: { collection: first.data.collection } });
      expect(again.data.transaction).toMatchObject({
        transactionId: first.data.transaction.transactionId,
        ...quantity,
      });
      const stranger = { ...validate, additionalData: { applicationUsername: createUniqueName('user') } };
      expect((await service.validate(keys, stranger)).body).toMatchObject({ ok: false });
      await service.callControl('/clock', { set: new Date(Date.now() + 4 * dayMs).toISOString() });
      const { validate: renewedKey } = await service.callControl(`/purchases/${id}`);
      expect((await service.validate(keys, renewedKey)).body).toMatchObject({ ok: false });
    },
  );
});
