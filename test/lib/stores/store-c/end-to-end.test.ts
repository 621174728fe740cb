import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { startTestService, type TestService } from '../../../../testing/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

const sold = async (order: object) => {
  const purchase = { platform: 'store_c', productId: '9NBLGGH52Q8X', type: 'paid subscription', ...order };
  return await service.callControl('/purchases', purchase);
};

/** What a client's device does with a ticket. */
async function keyFor(ticket: { serviceTicketType: string; serviceTicket: string }, publisherUserId: string) {
  const path = `/onestore.microsoft.com/b2b/keys/create/${ticket.serviceTicketType}`;
  const body = JSON.stringify({ serviceTicket: ticket.serviceTicket, publisherUserId });
  return (await (await fetch(service.emulatorUrl + path, { method: 'POST', body })).json()) as { key: string };
}

it('a client of today goes from the first request over the ticket to its subscription', async () => {
  const keys = await service.createApp(['store_c']);
  const { id } = await sold({ applicationUsername: 'Ann' });
  const form = (name: string) => service.callControl(`/purchases/${encodeURIComponent(id)}?form=${name}`);
  const [{ validate: brand }, { validate: bare }] = [await form('brand'), await form('ticket')];
  const first = await service.validate(keys, { ...bare, transaction: brand.transaction });
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
  const { key } = await keyFor(first.body.data, 'Ann');
  const license = { type: 'windows-store-license', storeIdKey_purchase: key, storeIdKey_collections: null };
  const second = await service.validate(keys, { ...bare, transaction: brand.transaction, license });
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

it('the same body in neutral words gives the same purchase, and an ended one is told to be', async () => {
  const keys = await service.createApp(['store_c']);
  const { id, validate } = await sold({ applicationUsername: 'Bob', productId: '9NBLGGH52Q8Y' });
  expect(await service.validate(keys, validate)).toMatchObject({
    body: { ok: true, data: { transaction: { type: 'store_c-transaction' }, collection: [{ purchaseId: id }] } },
  });
  await service.callControl(`/purchases/${encodeURIComponent(id)}/refund`, {});
  expect(await service.validate(keys, validate)).toMatchObject({ body: { ok: false, code: 6778003, status: 419 } });
});

it('a product that the customer does not own is no purchase', async () => {
  const keys = await service.createApp(['store_c']);
  const { validate } = await sold({ type: 'non consumable', productId: '9NBLGGH52Q8Z' });
  const transaction = { ...validate.transaction, storeId: '9NBLGGH52000' };
  expect(await service.validate(keys, { ...validate, transaction })).toMatchObject({
    body: { ok: false, code: 6778001 },
  });
});

it('a consumable is consumed at the store once it is stored, where the settings say so', async () => {
  const keys = await service.createApp(['store_c'], { consume: true });
  const { id, validate } = await sold({ type: 'consumable', quantity: 2, productId: '9NBLGGH5WVP6' });
  expect(await service.validate(keys, validate)).toMatchObject({
    body: { ok: true, data: { collection: [{ isConsumed: true }] } },
  });
  expect(await service.callControl(`/purchases/${id}`)).toMatchObject({ quantity: 0 });
  expect(await service.validate(keys, validate)).toMatchObject({ body: { ok: false, code: 6778004 } });
});
