import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createUniqueName } from '../../testing/given.ts';
import { startTestService, type TestService } from '../../testing/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterEach(async () => {
  await service.clearFaults();
});
afterAll(async () => {
  await service.close();
});

const accounts = ['processor_a', 'service_processor_a'] as const;

describe('validateReceipt with both accounts of Stripe', () => {
  for (const sold of accounts) {
    it.each(accounts.flatMap((account) => ['down', 'rate-limited', 'html', 'cut'].map((fault) => [account, fault])))(
      `returns ConnectionFailed or the purchase of ${sold} while %s is unavailable (%s)`,
      async (platform, fault) => {
        const keys = await service.createApp([...accounts]);
        const { validate } = await service.callControl('/purchases', {
          platform: sold,
          productId: createUniqueName('product'),
          type: 'paid subscription',
          applicationUsername: createUniqueName('user'),
        });
        await service.callControl('/faults', { platform, fault, times: 50 });
        const { body } = await service.validate(keys, validate);
        const isOwned = sold === 'processor_a' && platform === 'service_processor_a';
        expect(body).toMatchObject(isOwned ? { ok: true } : { ok: false, code: 6778002 });
      },
    );
  }

  it('rejects a receipt that neither Stripe account has', async () => {
    const keys = await service.createApp([...accounts]);
    const transaction = { type: 'processor_a-charge', id: 'ch_unknown' };
    const { body } = await service.validate(keys, { id: 'premium', type: 'paid subscription', transaction });
    expect(body).toMatchObject({ ok: false, code: 6778001, message: 'The id is not found at Stripe.' });
  });
});
